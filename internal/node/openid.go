package node

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/chatd/chatd/web/oidc"
)

// checkOpenID checks how people sign in with OpenID Connect.
func (s *settings) checkOpenID(p *problems) {
	if s.OIDCSecretFile != "" {
		s.oidcSecret = readSetting(p, "", "", "CHATD_OIDC_SECRET_FILE", s.OIDCSecretFile)
	}
	if s.OIDC == "" {
		for _, c := range []struct{ key, value string }{{"CHATD_OIDC_CLIENT_ID", s.OIDCClientID}, {"CHATD_OIDC_SECRET_FILE", s.OIDCSecretFile}} {
			if c.value != "" {
				p.add(c.key, "set CHATD_OIDC too, to the URL of the issuer")
			}
		}
		return
	}
	if err := oidc.CheckIssuer(s.OIDC, s.egress); err != nil {
		p.add("CHATD_OIDC", "%v; networks that are not public have to be in CHATD_EGRESS_ALLOW", err)
	}
	if s.OIDCClientID == "" {
		p.add("CHATD_OIDC_CLIENT_ID", "want the id of this server at the issuer")
	}
	if !s.accounts {
		p.add("CHATD_OIDC", "who signs in so gets an account: CHATD_ACCOUNTS must be on")
	}
}

// openProvider makes the provider that people sign in with; nil: none is set.
func (s *settings) openProvider(log *slog.Logger) (*oidc.Provider, error) {
	if s.OIDC == "" {
		return nil, nil
	}
	provider, err := oidc.New(oidc.Options{
		Issuer: s.OIDC, ClientID: s.OIDCClientID, Secret: s.oidcSecret, User: string(s.OIDCUser), Egress: s.egress,
		Keys: s.secrets, Now: time.Now, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("CHATD_OIDC: %w", err)
	}
	return provider, nil
}
