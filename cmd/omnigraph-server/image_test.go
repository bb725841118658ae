package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// image is what the last stage of the guide's Dockerfile says.
type image struct {
	copied                    [][]string // arguments of COPY from the repository
	user, expose, volume      string
	health, entrypoint, plain []string
}

func readImage(t *testing.T) image {
	t.Helper()
	b, err := os.ReadFile("../../docs/deployment/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, last, ok := strings.Cut(string(b), "\nFROM scratch\n")
	if !ok {
		t.Fatal("the image is not made from scratch")
	}
	var im image
	list := func(text string) (args []string) {
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			t.Errorf("%s: %v: a shell is wanted, and there is none", text, err)
		}
		return args
	}
	for line := range strings.Lines(last) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "COPY":
			if !strings.HasPrefix(rest, "--") {
				im.copied = append(im.copied, strings.Fields(rest))
			}
		case "USER":
			im.user = rest
		case "EXPOSE":
			im.expose = rest
		case "VOLUME":
			im.volume = rest
		case "HEALTHCHECK":
			_, command, _ := strings.Cut(rest, " CMD ")
			im.health = list(command)
		case "ENTRYPOINT":
			im.entrypoint = list(rest)
		case "CMD":
			im.plain = list(rest)
		}
	}
	return im
}

// TestImage does what a container of the image does, in an empty root that holds no more
// than the image: as the image's user, with only the volume to write to, without a shell,
// /proc, /dev and /tmp.
func TestImage(t *testing.T) {
	im := readImage(t)
	root := t.TempDir()
	for _, args := range im.copied {
		from, to := args[0], filepath.Join(root, "app", args[1])
		info, err := os.Stat("../../" + from)
		switch {
		case err != nil:
			t.Errorf("COPY: %v", err)
		case info.IsDir():
			err = os.CopyFS(to, os.DirFS("../../"+from))
		default:
			err = copyFile("../../"+from, filepath.Join(to, filepath.Base(from)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"omnigraph", "omnigraph-server"} {
		if err := copyFile(filepath.Join(bin, name), filepath.Join(root, "usr/local/bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(im.plain, "0.0.0.0:"+im.expose) || !slices.Contains(im.health, "127.0.0.1:"+im.expose) {
		t.Errorf("port %s is exposed, %q is started, and %q asks", im.expose, im.plain, im.health)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of a process")
	}
	uid, gid, ok := strings.Cut(im.user, ":")
	u, err := strconv.Atoi(uid)
	if err != nil || !ok || uid != gid || u == 0 {
		t.Fatalf("the user is %q, wanted numbers that are not root's", im.user)
	}
	volume := filepath.Join(root, im.volume)
	if err := os.Mkdir(volume, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(volume, u, u); err != nil {
		t.Fatal(err)
	}
	confined := func(env []string, args ...string) *exec.Cmd {
		return &exec.Cmd{Path: args[0], Args: args, Env: env, Dir: "/app", SysProcAttr: &syscall.SysProcAttr{
			Chroot: root, Credential: &syscall.Credential{Uid: uint32(u), Gid: uint32(u)},
		}}
	}
	if out, err := confined(nil, "/usr/local/bin/omnigraph", "init", "--schema", "queries/code/schema.pg", "--store", "elsewhere").CombinedOutput(); err == nil || !strings.Contains(string(out), "permission denied") {
		t.Errorf("the user writes outside of the volume: %v, %s", err, out)
	}
	if out, err := confined(nil, composed(t).Services["apply"].Entrypoint...).CombinedOutput(); err != nil {
		t.Fatalf("apply: %v, %s", err, out)
	}

	free := func(args []string) []string { // of the image's port
		args = slices.Clone(args)
		for i := range args {
			args[i] = strings.Replace(args[i], ":"+im.expose, ":0", 1)
		}
		return args
	}
	p := startCommand(t, confined([]string{"OMNIGRAPH_TOKEN_ACT_ADA=" + imageToken}, free(append(im.entrypoint, im.plain...))...), "OMNIGRAPH_LISTEN_ADDR=")
	p.token = imageToken
	port := p.addr[strings.LastIndexByte(p.addr, ':')+1:]
	p.addr = "127.0.0.1:" + port
	if status, err := p.post("/graphs/code/query", "application/json", `{"query":"query q() { match { $p: Package } return { $p.path } }"}`, nil); err != nil || status != http.StatusOK {
		t.Errorf("a query: status %d, %v", status, err)
	}
	health := slices.Clone(im.health)
	health[slices.Index(health, "127.0.0.1:"+im.expose)] = p.addr
	if out, err := confined(nil, health...).CombinedOutput(); err != nil {
		t.Errorf("the health check of a server that lives: %v, %s", err, out)
	}
	p.stop()
	if out, err := confined(nil, health...).CombinedOutput(); err == nil {
		t.Errorf("the health check finds a server that is gone: %s", out)
	}
}

const imageToken = "k7Qm2-example-not-a-secret"

func copyFile(from, to string, mode os.FileMode) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, mode)
}

// compose is what a compose file says of how its services are confined.
type compose struct {
	Services map[string]struct {
		Build      struct{ Context, Dockerfile string }
		User       string
		ReadOnly   bool                    `yaml:"read_only"`
		CapDrop    []string                `yaml:"cap_drop"`
		Security   []string                `yaml:"security_opt"`
		Volumes    []string                `yaml:"volumes"`
		Ports      []string                `yaml:"ports"`
		Grace      time.Duration           `yaml:"stop_grace_period"`
		Health     struct{ Test []string } `yaml:"healthcheck"`
		Entrypoint []string
	}
}

func composed(t *testing.T) compose {
	t.Helper()
	b, err := os.ReadFile("../../docs/deployment/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c compose
	if err := yaml.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompose holds the compose file to the image, and to how long the server drains.
func TestCompose(t *testing.T) {
	im, c := readImage(t), composed(t)
	if len(c.Services) != 2 {
		t.Fatalf("services: %v", c.Services)
	}
	for name, s := range c.Services {
		if s.User != im.user || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.Security, []string{"no-new-privileges:true"}) {
			t.Errorf("%s is not confined: %+v", name, s)
		}
		if !slices.Equal(s.Volumes, []string{"data:" + im.volume}) {
			t.Errorf("%s has the volumes %v", name, s.Volumes)
		}
		if file := filepath.Join("../../docs/deployment", s.Build.Context, s.Build.Dockerfile); !exists(file) {
			t.Errorf("%s is built from %s, which is not there", name, file)
		}
	}
	server := c.Services["server"]
	if !slices.Equal(server.Ports, []string{"127.0.0.1:8080:" + im.expose}) {
		t.Errorf("ports %v", server.Ports)
	}
	if !slices.Equal(server.Health.Test, append([]string{"CMD"}, im.health...)) {
		t.Errorf("its health is asked by %q, that of the image by %q", server.Health.Test, im.health)
	}
	if server.Grace <= drain(t)+5*time.Second {
		t.Errorf("a grace of %v is too short for calls under way to finish", server.Grace)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// drain is how long calls under way may take when the server stops, as its source says.
func drain(t *testing.T) time.Duration {
	t.Helper()
	files, err := filepath.Glob("../../server/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`\bdrainTimeout\s*=\s*(\d+) \* time\.Second`).FindSubmatch(b); m != nil {
			n, _ := strconv.Atoi(string(m[1])) // digits
			return time.Duration(n) * time.Second
		}
	}
	t.Fatal("server/ does not say how long it drains")
	return 0
}
