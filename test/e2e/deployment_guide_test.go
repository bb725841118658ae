package e2e

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
)

// block is an example of the guide: its language, the name after the language, and its text.
type block struct{ language, name, text string }

func deploymentGuide(t *testing.T) (guide string, blocks []block) {
	t.Helper()
	b, err := os.ReadFile("../../docs/deployment.md")
	if err != nil {
		t.Fatal(err)
	}
	guide = string(b)
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+) ?([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(guide, -1) {
		blocks = append(blocks, block{m[1], m[2], m[3]})
	}
	return guide, blocks
}

// TestDeploymentGuide follows docs/deployment.md in an empty folder. It writes the files of the
// guide and runs its commands, one block after the other in one shell.
func TestDeploymentGuide(t *testing.T) {
	for _, program := range []string{"bash", "curl", "openssl", "sha256sum", "tar"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	_, blocks := deploymentGuide(t)
	var script strings.Builder
	fmt.Fprint(&script, "set -euo pipefail\ntrap 'echo \"line $LINENO: $BASH_COMMAND\" >&2' ERR\n")
	asks := regexp.MustCompile(`(?m)^(curl .*) {2}# (\d{3})$`)
	asked, ran := 0, 0
	for _, b := range blocks {
		switch {
		case b.language == "yaml" && strings.HasPrefix(b.name, "etc/"):
			fmt.Fprintf(&script, "cat > %s <<'END'\n%sEND\n", b.name, b.text)
		case b.language == "sh" && b.name == "":
			ran++
			asked += len(asks.FindAllString(b.text, -1))
			text := asks.ReplaceAllString(b.text, `found=$$($1); test "$$found" = $2 || { echo "found $$found, expected $2" >&2; false; }`)
			script.WriteString(text)
		}
	}
	if asked < 6 || ran < 12 {
		t.Errorf("found %d questions and %d blocks of commands", asked, ran)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "guide.sh")
	write(t, file, strings.ReplaceAll(script.String(), "127.0.0.1:8080", addr))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", file)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CHECKOUT="+checkout, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Kill the whole process group, so that a server that the shell left running ends too.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	log, err := os.Create(filepath.Join(filepath.Dir(file), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		_ = cmd.Cancel() // fails if the group has no process left
		out, _ := os.ReadFile(log.Name())
		t.Fatalf("the guide: %v\n%s", err, out)
	}

	for name, want := range map[string]os.FileMode{"var": 0o700, "var.old/page-token.key": 0o600, "var/cluster.revision": 0o600, "tokens.yaml": 0o600, "ada.token": 0o600, "backup.tar.gz": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info, err, want)
		}
	}
	// Both stores were restored: one from the folder, one from the export.
	for _, store := range []string{"var.old/code", "var/code"} {
		out, err := exec.Command(filepath.Join(bin, "omnigraph"), "export", "--store", filepath.Join(dir, store)).Output()
		if err != nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "example.com/p") {
			t.Errorf("%s holds %s, %v", store, out, err)
		}
	}
	if _, err := cluster.Read(filepath.Join(dir, "etc/cluster.yaml")); err != nil {
		t.Error(err)
	}
}

// TestDeploymentGuideShows checks the examples of the guide that its tests do not run. They must
// agree with the existing files and commands.
func TestDeploymentGuideShows(t *testing.T) {
	guide, blocks := deploymentGuide(t)
	excerpts := map[string]string{"nginx": "nginx.conf", "ini": "omnigraph.service"}
	marked := []string{"as-root", "by-daemon", "in-ci"}
	seen := map[string]int{}
	for _, b := range blocks {
		seen[b.language]++
		switch {
		case excerpts[b.language] != "" && b.name == "":
			whole, err := os.ReadFile(filepath.Join("../../docs/deployment", excerpts[b.language]))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(whole), b.text) {
				t.Errorf("%s does not hold what the guide shows of it:\n%s", excerpts[b.language], b.text)
			}
		case b.language == "ini" && b.name == "loopback.conf":
			// TestUnit tests this drop-in together with the unit.
		case b.language == "ini" && b.name == "apply.conf":
			// TestUnit tests the rest of this drop-in.
			parsed(t, regexp.MustCompile(`(?m)^ExecStartPre=/usr/local/bin/(.*)$`).FindStringSubmatch(b.text)[1])
		case b.language == "sh" && slices.Contains(marked, b.name):
			for _, m := range regexp.MustCompile(`(?m)(?:^|-- /usr/local/bin/)((?:omnigraph|gq|omnigraph-server) .*)$`).FindAllStringSubmatch(b.text, -1) {
				seen["commands"]++
				parsed(t, m[1])
			}
			for _, path := range regexp.MustCompile(`docs/deployment/\S+`).FindAllString(b.text, -1) {
				if !exists("../../" + path) {
					t.Errorf("there is no %s", path)
				}
			}
		case b.language == "sh" && b.name == "", b.language == "yaml" && b.name != "":
		default:
			t.Errorf("an example in %s %s, which nothing checks:\n%s", b.language, b.name, b.text)
		}
	}
	if seen["nginx"] != 2 || seen["ini"] != 3 || seen["yaml"] != 2 || seen["commands"] != 7 {
		t.Errorf("blocks: %v", seen)
	}
	for _, m := range regexp.MustCompile(`\]\((deployment/[^)]*)\)`).FindAllStringSubmatch(guide, -1) {
		if !exists("../../docs/" + m[1]) {
			t.Errorf("there is no docs/%s", m[1])
		}
	}
	_, sizing, _ := strings.Cut(guide, "\n## How large\n")
	pages, err := filepath.Glob("../../bench/runs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("the pages of the benchmark runs:", pages, err)
	}
	var figures strings.Builder
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		figures.Write(text)
	}
	found := regexp.MustCompile(`\d[\d.,]* (?:MB|ms|µs)|\d+ a second`).FindAllString(sizing, -1)
	for _, figure := range found {
		if figure != "78 MB" && !strings.Contains(figures.String(), strings.TrimSuffix(figure, " a second")) {
			t.Errorf("%s is not in bench/runs", figure)
		}
	}
	// 78 MB is the difference between 185 MB and the 107 MB without mapped files.
	if !strings.Contains(figures.String(), "| 185 MB | 107 MB |") || len(found) < 10 {
		t.Errorf("the figures %v", found)
	}
}

// TestDeploymentGuideHosts checks the guide's table of hosts against the host check of the server.
func TestDeploymentGuideHosts(t *testing.T) {
	guide, _ := deploymentGuide(t)
	rows := regexp.MustCompile("(?m)^\\| (`[^|]*`.*|the same) \\| (none|`\\[.*\\]`) \\| (.*) \\|$").FindAllStringSubmatch(guide, -1)
	if len(rows) != 4 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	bind := ""
	local := []string{"127.0.0.1", "[::1]:8080", "localhost:8080"}
	for i, m := range rows {
		if i%2 == 0 {
			bind = strings.Split(m[1], "`")[1]
		}
		var log bytes.Buffer
		o := hostcheck.Options{Bind: bind, Log: slog.New(slog.NewTextHandler(&log, nil))}
		if m[2] != "none" {
			o.PublicHosts = []string{publicHost}
		}
		g, err := hostcheck.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if warned, said := log.Len() > 0, strings.Contains(m[3], "warning"); warned != said {
			t.Errorf("%s: the log says %s", m[0], log.String())
		}
		h := g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		anyHost := strings.HasPrefix(m[3], "any")
		for _, host := range append(local, publicHost, "evil.example.com") {
			said := anyHost || strings.Contains(m[3], host)
			if slices.Contains(local, host) {
				said = anyHost || strings.Contains(m[3], "localhost") || strings.Contains(m[3], "these")
			}
			r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if taken := w.Code == http.StatusOK; taken != said {
				t.Errorf("%s: bound to %s, host %s answers %d", m[0], bind, host, w.Code)
			}
		}
	}
}

// parsed checks that a command of the guide exists and has the flags that the guide gives it.
func parsed(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(command)
	path := words[1:]
	for i, w := range path {
		if strings.HasPrefix(w, "-") {
			path = path[:i]
			break
		}
	}
	help, err := exec.Command(filepath.Join(bin, words[0]), append(slices.Clone(path), "--help")...).Output()
	if err != nil || !strings.Contains(string(help), strings.Join(append([]string{words[0]}, path...), " ")) {
		t.Errorf("%s: no such command: %v", command, err)
	}
	for _, w := range words {
		if flag, ok := strings.CutPrefix(w, "--"); ok && !strings.Contains(string(help), "--"+flag+" ") {
			t.Errorf("%s has no flag --%s", command, flag)
		}
	}
}

// TestKubernetes checks that the guide's pod agrees with the image and with the drain time of the
// server.
func TestKubernetes(t *testing.T) {
	_, blocks := deploymentGuide(t)
	i := slices.IndexFunc(blocks, func(b block) bool { return b.name == "kubernetes.yaml" })
	if i < 0 {
		t.Fatal("the guide has no example for Kubernetes")
	}
	var deployment struct {
		Spec struct {
			Replicas int
			Strategy struct{ Type string }
			Template struct {
				Spec struct {
					Grace           int `yaml:"terminationGracePeriodSeconds"`
					SecurityContext struct {
						RunAsUser string `yaml:"runAsUser"`
						FSGroup   string `yaml:"fsGroup"`
					} `yaml:"securityContext"`
					InitContainers []map[string]any `yaml:"initContainers"`
					Containers     []map[string]any
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(blocks[i].text), &deployment); err != nil {
		t.Fatal(err)
	}
	im, pod := readImage(t, guideImage), deployment.Spec.Template.Spec
	if user := pod.SecurityContext; user.RunAsUser+":"+user.FSGroup != im.user {
		t.Errorf("the pod runs as %+v, the image as %s", user, im.user)
	}
	if time.Duration(pod.Grace)*time.Second <= drain(t)+5*time.Second {
		t.Errorf("a grace of %d seconds is too short", pod.Grace)
	}
	if deployment.Spec.Replicas != 1 || deployment.Spec.Strategy.Type != "Recreate" || len(pod.Containers) != 1 || len(pod.InitContainers) != 1 {
		t.Errorf("two servers would have one storage folder: %+v", deployment)
	}
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		text := fmt.Sprint(c)
		for _, want := range []string{"readOnlyRootFilesystem:true", "allowPrivilegeEscalation:false", "mountPath:" + im.volume} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
	}
	server := fmt.Sprint(pod.Containers[0])
	for _, want := range []string{"path:/healthz port:" + im.expose, "path:/readyz port:" + im.expose, "containerPort:" + im.expose} {
		if !strings.Contains(server, want) {
			t.Errorf("%s is not in %s", want, server)
		}
	}
}
