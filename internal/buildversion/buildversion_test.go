package buildversion

import (
	"runtime/debug"
	"testing"
)

func TestRevision(t *testing.T) {
	for want, info := range map[string]*debug.BuildInfo{
		"0a1b2c": {Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0a1b2c"}}},
		"":       {Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}}},
	} {
		if got := revision(info); got != want {
			t.Errorf("the commit is %q, want %q", got, want)
		}
	}
	if got := revision(nil); got != "" {
		t.Errorf("a program without build information has the commit %q", got)
	}
}
