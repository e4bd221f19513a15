-- Reads all webhooks and the version of their list. Only reads.
--
-- KEYS  webhooks webhooks_state
-- Returns {OK, version, list of id and webhook in turn}
return {'OK', redis.call('HGET', webhooks_state, 'version') or '0', redis.call('HGETALL', webhooks)}
