package node

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// CheckEnvironment refuses variables that begin like chatd's own and are none: a typo in a setting would otherwise be
// silently ignored. Kubernetes sets CHATD_PORT and CHATD_SERVICE_* for a service of that name, the commands that ask a
// running server take CHATD_URL and CHATD_TOKEN, and the project's tests have variables of their own; those are left alone.
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

// variables are the names of all settings in the environment.
func variables() []string {
	var names []string
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("env"))
	}
	return names
}
