package doctor

import (
	"testing"

	"github.com/chatd/chatd/queue/script/scripttest"
)

func TestScriptsBindWhatTheyName(t *testing.T) { scripttest.Check(t, library.Used()) }

func TestCallsGiveWhatScriptsTake(t *testing.T) { scripttest.CheckCalls(t, ".", library.Used()) }
