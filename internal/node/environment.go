package node

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// CheckEnvironment refuses variables with chatd's prefix that are no settings: otherwise a typo would be silently
// ignored. It allows CHATD_PORT and CHATD_SERVICE_*, which Kubernetes sets for a service of that name, CHATD_URL and
// CHATD_TOKEN of the commands that call a running server, and the variables of the project's tests.
func CheckEnvironment(environ []string) error {
	known := variables()
	var unknown []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "CHATD_") || slices.Contains(known, name) || foreign(name) {
			continue
		}
		unknown = append(unknown, name)
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%s: unknown setting; known settings: %s", strings.Join(unknown, ", "), strings.Join(known, " "))
}

func foreign(name string) bool {
	for _, prefix := range []string{"CHATD_SERVICE_", "CHATD_PORT_", "CHATD_E2E_", "CHATD_TEST_", "CHATD_BENCH_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "CHATD_PORT" || name == "CHATD_URL" || name == "CHATD_TOKEN"
}

// variables returns the environment variables of all settings.
func variables() []string {
	var names []string
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("env"))
	}
	return names
}
