package doctor

import (
	"testing"

	"github.com/chatd/chatd/store/script/scripttest"
)

func TestScriptsBindWhatTheyName(t *testing.T) { scripttest.Check(t, scripts) }

func TestCallsGiveWhatScriptsTake(t *testing.T) { scripttest.CheckCalls(t, ".", scripts) }
