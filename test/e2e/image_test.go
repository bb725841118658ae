package e2e

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
)

// The Dockerfiles of this repository: the one of the guide, and the one of modules that gq init
// creates.
const (
	guideImage  = "../../docs/deployment/Dockerfile"
	moduleImage = "../../internal/codegen/scaffold/templates/Dockerfile"
)

// image describes the last stage of a Dockerfile.
type image struct {
	built                     []string   // the packages that the earlier stage builds
	copied                    [][]string // arguments of COPY from the repository
	collect                   string     // a command of the earlier stage that copies files of the repository into /out/app; "" for none
	rest                      []string   // other lines of the stage, without comments
	user, expose, volume      string
	health, entrypoint, plain []string
}

func readImage(t *testing.T, file string) image {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, last, ok := strings.Cut(string(b), "\nFROM scratch\n")
	if !ok {
		t.Fatalf("the image of %s is not made from scratch", file)
	}
	var im image
	if m := regexp.MustCompile(`(?m)^ +CGO_ENABLED=0 go build -trimpath -o /out/bin/ (.*) && \\$`).FindStringSubmatch(before); m != nil {
		im.built = strings.Fields(m[1])
	}
	list := func(text string) (args []string) {
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			t.Errorf("%s: %v needs a shell, which the image does not have", text, err)
		}
		return args
	}
	for line := range strings.Lines(last) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "COPY" && !strings.HasPrefix(rest, "--") {
			im.copied = append(im.copied, strings.Fields(rest))
			continue
		}
		if rest == "--from=build /out/app/ ./" {
			if im.collect = regexp.MustCompile(`find \. (?s:.*?) \\;`).FindString(before); im.collect == "" {
				t.Errorf("%s copies /out/app, into which it put nothing", file)
			}
			continue
		}
		if word != "#" {
			im.rest = append(im.rest, line)
		}
		switch word {
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

// TestImagesAreAlike checks that the images differ only in the packages that they build and the
// files that they copy, and that both contain the two commands.
func TestImagesAreAlike(t *testing.T) {
	guide, module := readImage(t, guideImage), readImage(t, moduleImage)
	if !slices.Equal(guide.rest, module.rest) {
		t.Errorf("the guide's image has\n%s, that of a module\n%s", strings.Join(guide.rest, ""), strings.Join(module.rest, ""))
	}
	if want := []string{"./cmd/omnigraph", "./cmd/omnigraph-server"}; !slices.Equal(guide.built, want) {
		t.Errorf("the guide's image has %v, want %v", guide.built, want)
	}
	// The commands of a module include its server.
	if want := []string{"./cmd/...", "github.com/omnigraph-go/omnigraph/cmd/omnigraph"}; !slices.Equal(module.built, want) {
		t.Errorf("a module's image has %v, want %v", module.built, want)
	}
}

// TestImage runs the commands of a container of each image in an empty root that holds only the
// content of the image. They run as the image's user, can write only to the volume, and have no
// shell, /proc, /dev or /tmp.
func TestImage(t *testing.T) {
	t.Run("guide", func(t *testing.T) {
		contained(t, readImage(t, guideImage), "../..", bin, composed(t).Services["apply"].Entrypoint, "code", "queries/code/schema.pg", "Package")
	})
	t.Run("module", func(t *testing.T) {
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "brain")
		if out, err := exec.Command(filepath.Join(bin, "gq"), "init", dir, "--replace", root).CombinedOutput(); err != nil {
			t.Fatalf("gq init: %v, %s", err, out)
		}
		im, out := readImage(t, filepath.Join(dir, "Dockerfile")), filepath.Join(t.TempDir(), "bin")+string(filepath.Separator)
		for _, args := range [][]string{{"mod", "tidy"}, append([]string{"build", "-o", out}, im.built...)} {
			cmd := exec.CommandContext(t.Context(), "go", args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("go %s: %v, %s", strings.Join(args, " "), err, out)
			}
		}
		readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		said := regexp.MustCompile(`(?m)^ +docker run .* --entrypoint (\S+) brain (.*)$`).FindSubmatch(readme)
		if said == nil {
			t.Fatalf("the module's README does not say how to apply:\n%s", readme)
		}
		apply := append([]string{string(said[1])}, strings.Fields(string(said[2]))...)
		contained(t, im, dir, out, apply, "team", "schema.pg", "Person")
	})
}

// contained runs the commands of an image with the files of a folder. `built` is the folder of the
// compiled commands. contained applies the cluster with the command `apply`, and then asks the
// cluster's graph for entities of a type.
func contained(t *testing.T, im image, from, built string, apply []string, graph, schema, entity string) {
	t.Helper()
	root := t.TempDir()
	if im.collect != "" {
		to := filepath.Join(root, "app")
		if err := os.Mkdir(to, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(im.collect, "/out/app", to))
		cmd.Dir = from
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", im.collect, err, out)
		}
	}
	for _, args := range im.copied {
		last := len(args) - 1
		for _, name := range args[:last] {
			file, to := filepath.Join(from, name), filepath.Join(root, "app", args[last])
			info, err := os.Stat(file)
			switch {
			case err != nil:
				t.Errorf("COPY: %v", err)
			case info.IsDir():
				err = os.CopyFS(to, os.DirFS(file))
			default:
				err = copyFile(file, filepath.Join(to, filepath.Base(name)), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"omnigraph", "omnigraph-server"} {
		if err := copyFile(filepath.Join(built, name), filepath.Join(root, "usr/local/bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(im.plain, "0.0.0.0:"+im.expose) || !slices.Contains(im.health, "127.0.0.1:"+im.expose) {
		t.Errorf("the image exposes port %s, starts %q and checks its health with %q", im.expose, im.plain, im.health)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can change the root of a process")
	}
	uid, gid, ok := strings.Cut(im.user, ":")
	u, err := strconv.Atoi(uid)
	if err != nil || !ok || uid != gid || u == 0 {
		t.Fatalf("the user is %q, expected numbers that are not root's", im.user)
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
	if out, err := confined(nil, "/usr/local/bin/omnigraph", "init", "--schema", schema, "--store", "elsewhere").CombinedOutput(); err == nil || !strings.Contains(string(out), "permission denied") {
		t.Errorf("the user writes outside of the volume: %v, %s", err, out)
	}
	if out, err := confined(nil, apply...).CombinedOutput(); err != nil {
		t.Fatalf("apply: %v, %s", err, out)
	}

	free := func(args []string) []string { // replaces the image's port by a free one
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
	if status, err := p.post("/graphs/"+graph+"/query", "application/json", `{"query":"query q() { match { $x: `+entity+` } return { count($x) as n } }"}`, nil); err != nil || status != http.StatusOK {
		t.Errorf("a query: status %d, %v", status, err)
	}
	health := slices.Clone(im.health)
	health[slices.Index(health, "127.0.0.1:"+im.expose)] = p.addr
	if out, err := confined(nil, health...).CombinedOutput(); err != nil {
		t.Errorf("the health check of a running server: %v, %s", err, out)
	}
	p.stop()
	if out, err := confined(nil, health...).CombinedOutput(); err == nil {
		t.Errorf("the health check succeeds although the server has ended: %s", out)
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// drain returns how long the server lets calls in flight finish when it stops. It reads the value
// from the server's source.
func drain(t *testing.T) time.Duration {
	t.Helper()
	files, err := filepath.Glob("../../internal/server/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`\bdrainTimeout\s*=\s*(\d+) \* time\.Second`).FindSubmatch(b); m != nil {
			n, _ := strconv.Atoi(string(m[1])) // the pattern matches only digits
			return time.Duration(n) * time.Second
		}
	}
	t.Fatal("the source of the server does not contain the drain time")
	return 0
}
