package node

import (
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// checkTracing checks the standard variables of OpenTelemetry, where the SDK would go on with a default without a word.
func (s *settings) checkTracing(p *problems) {
	if s.Tracing != "otlp" {
		return
	}
	samplers := []string{"always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}
	want := func(key, allowed string, valid func(string) bool) {
		if value := strings.TrimSpace(os.Getenv(key)); value != "" && !valid(value) {
			p.add(key, "want %s", allowed) // the value may be a secret
		}
	}
	want("OTEL_TRACES_SAMPLER", "one of "+strings.Join(samplers, ", "), func(v string) bool { return slices.Contains(samplers, strings.ToLower(v)) })
	want("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1", func(v string) bool {
		share, err := strconv.ParseFloat(v, 64)
		return err == nil && share >= 0 && share <= 1
	})
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"} {
		want(prefix+"ENDPOINT", "an http:// or https:// URL, such as http://localhost:4318", func(v string) bool {
			u, err := url.Parse(v)
			return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
		})
		want(prefix+"PROTOCOL", "http/protobuf, the only one supported", func(v string) bool { return v == "http/protobuf" })
		want(prefix+"COMPRESSION", "gzip or none", func(v string) bool { return v == "gzip" || v == "none" })
		want(prefix+"TIMEOUT", "milliseconds, such as 10000", func(v string) bool {
			ms, err := strconv.Atoi(v)
			return err == nil && ms > 0
		})
		want(prefix+"HEADERS", "NAME=VALUE, comma-separated", func(v string) bool {
			for _, one := range strings.Split(v, ",") {
				name, value, ok := strings.Cut(one, "=")
				if _, err := url.PathUnescape(value); !ok || err != nil || strings.TrimSpace(name) == "" {
					return false
				}
			}
			return true
		})
		want(prefix+"CERTIFICATE", "a file that can be read", func(v string) bool {
			_, err := os.ReadFile(v)
			return err == nil
		})
	}
}
