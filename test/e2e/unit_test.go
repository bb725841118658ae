package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestUnit checks that the guide's systemd units fit the server and each other, and that
// `systemd-analyze security` computes the exposure score that the guide states.
func TestUnit(t *testing.T) {
	b, err := os.ReadFile("../../docs/deployment/omnigraph.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := string(b)
	setting := func(key string) string {
		m := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindStringSubmatch(unit)
		if m == nil {
			t.Fatalf("the unit has no %s", key)
		}
		return m[1]
	}
	if seconds, err := strconv.Atoi(setting("TimeoutStopSec")); err != nil || time.Duration(seconds)*time.Second <= drain(t)+5*time.Second {
		t.Errorf("TimeoutStopSec=%s is too short for calls under way to finish", setting("TimeoutStopSec"))
	}
	parsed(t, strings.TrimPrefix(setting("ExecStart"), "/usr/local/bin/"))
	guide, blocks := deploymentGuide(t)
	if dir := "/var/lib/" + setting("StateDirectory"); !strings.Contains(guide, "storage: "+dir+"|") || !strings.Contains(guide, "-o "+setting("User")+" -g "+setting("Group")+" "+dir+"\n") {
		t.Errorf("the guide has another storage folder than %s", dir)
	}

	b, err = os.ReadFile("../../docs/deployment/omnigraph.socket")
	if err != nil {
		t.Fatal(err)
	}
	socket := string(b)
	// The server refuses a socket on another address than --bind.
	listen := regexp.MustCompile(`(?m)^ListenStream=(.*)$`).FindStringSubmatch(socket)
	if listen == nil || !strings.HasSuffix(setting("ExecStart"), " --bind "+listen[1]) {
		t.Errorf("the socket listens on %v, and the service runs %s", listen, setting("ExecStart"))
	}

	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "omnigraph.service")
	analyze := func(unit string, args ...string) string {
		// systemd-analyze verify requires that the programs exist.
		write(t, file, strings.ReplaceAll(unit, "/usr/local/bin/", bin+"/"))
		out, err := exec.Command("systemd-analyze", append(args, file)...).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze %s: %v, %s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if out := analyze(unit, "--man=no", "verify"); strings.Contains(out, "omnigraph") {
		t.Errorf("systemd-analyze verify: %s", out)
	}
	dropIn := func(name string) string {
		i := slices.IndexFunc(blocks, func(b block) bool { return b.name == name })
		if i < 0 {
			t.Fatalf("the guide has no drop-in %s", name)
		}
		return blocks[i].text
	}
	if out := analyze(strings.Replace(unit, "[Install]", dropIn("apply.conf")+"[Install]", 1), "--man=no", "verify"); strings.Contains(out, "omnigraph") {
		t.Errorf("systemd-analyze verify with apply.conf: %s", out)
	}
	socketFile := filepath.Join(dir, "omnigraph.socket")
	write(t, socketFile, socket)
	if out, err := exec.Command("systemd-analyze", "--man=no", "verify", socketFile).CombinedOutput(); err != nil || strings.Contains(string(out), "omnigraph") {
		t.Errorf("systemd-analyze verify omnigraph.socket: %v, %s", err, out)
	}
	for _, x := range []struct{ unit, says string }{
		{unit, "exposure of %s of 10"},
		{strings.Replace(unit, "[Install]", dropIn("loopback.conf")+"[Install]", 1), "closes the network too (%s)"},
	} {
		out := analyze(x.unit, "--offline=yes", "security")
		m := regexp.MustCompile(`Overall exposure level for omnigraph.service: (\d+\.\d)`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("systemd-analyze security: %s", out)
		}
		if score, _ := strconv.ParseFloat(m[1], 64); score > 1.5 {
			t.Errorf("the exposure is %s", m[1])
		}
		// Releases of systemd compute the exposure differently.
		if version, _ := exec.Command("systemd-analyze", "--version").Output(); !strings.HasPrefix(string(version), "systemd 252 ") {
			t.Logf("the exposure is %s here", m[1])
		} else if want := strings.Replace(x.says, "%s", m[1], 1); !strings.Contains(guide, want) {
			t.Errorf("the guide does not say: %s", want)
		}
	}
}
