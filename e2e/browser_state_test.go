package e2e

import (
	_ "embed"
	"testing"
)

//go:embed testdata/browser_state.js
var stateChecks string

// TestBrowserState runs the checks of the page's pure modules in the browser that will run the modules.
func TestBrowserState(t *testing.T) {
	t.Parallel()
	page := newPerson(t, startBrowser(t), devNode(t), "ann")
	for _, failure := range ask[[]string](page, stateChecks) {
		t.Error(failure)
	}
}
