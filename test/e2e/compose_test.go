package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
)

// compose has the settings of a compose file that confine its services.
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

// TestCompose checks that the compose file agrees with the image and with the drain time of the
// server.
func TestCompose(t *testing.T) {
	im, c := readImage(t, guideImage), composed(t)
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
			t.Errorf("%s is built from %s, which does not exist", name, file)
		}
	}
	server := c.Services["server"]
	if !slices.Equal(server.Ports, []string{"127.0.0.1:8080:" + im.expose}) {
		t.Errorf("ports %v", server.Ports)
	}
	if !slices.Equal(server.Health.Test, append([]string{"CMD"}, im.health...)) {
		t.Errorf("the health check of the service is %q, and that of the image is %q", server.Health.Test, im.health)
	}
	if server.Grace <= drain(t)+5*time.Second {
		t.Errorf("a grace of %v is too short for calls in flight to finish", server.Grace)
	}
}

// TestGoMemory checks that GOMEMLIMIT in the files of the guide is nine tenths of the available
// memory.
func TestGoMemory(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for name, whole := range map[string]string{
		"deployment/compose.yaml": `mem_limit: (\d+)g`, "deployment/omnigraph.service": `MemoryMax=(\d+)G`, "deployment.md": `limits: \{ memory: (\d+)Gi`,
		"operations.md": `\| Of (\d+) GiB \|`,
	} {
		text := read(name)
		most := regexp.MustCompile(whole).FindStringSubmatch(text)
		held := regexp.MustCompile(`GOMEMLIMIT[^\d\n]*(\d+) ?MiB`).FindStringSubmatch(text)
		if most == nil || held == nil {
			t.Errorf("%s: found %v and %v", name, most, held)
			continue
		}
		gib, _ := strconv.ParseFloat(most[1], 64) // the pattern matches only digits
		mib, _ := strconv.ParseFloat(held[1], 64)
		if share := mib / (gib * 1024); share < 0.85 || share > 0.9 {
			t.Errorf("%s: GOMEMLIMIT is %s MiB of %s GiB", name, held[1], most[1])
		}
	}
	limits := cluster.Limits{}.Within(1800 << 20).WithDefaults()
	for _, row := range []string{
		fmt.Sprintf("| `memory_bytes` | %d MiB |", limits.MemoryBytes>>20), fmt.Sprintf("| `body_bytes` | %d MiB |", limits.BodyBytes>>20),
	} {
		if !strings.Contains(read("operations.md"), row) {
			t.Errorf("operations.md does not say %s", row)
		}
	}
}

// TestServersFiles reads the two configurations of several servers in docs/deployment/servers: the file for
// Compose, and the one inside the Kubernetes file. Each server in the files must be one of the peers.
func TestServersFiles(t *testing.T) {
	const folder = "../../docs/deployment/servers/"
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(folder + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	inMap := ""
	for _, document := range strings.Split(read("kubernetes.yaml"), "\n---\n") {
		var object struct {
			Kind string
			Data map[string]string
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "ConfigMap" {
			inMap = object.Data["cluster.yaml"]
		}
	}
	for name, text := range map[string]string{"cluster.yaml": read("cluster.yaml"), "kubernetes.yaml": inMap} {
		// The configuration is in the root of the image, beside the folder with the queries.
		c, err := cluster.Parse("../../cluster.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Shared == nil || len(c.Peers) != 3 || c.Graph("code") == nil || c.Graph("code").Policy == "" || c.ServerPolicy == "" {
			t.Errorf("%s: %+v", name, c)
		}
		if name == "kubernetes.yaml" {
			continue
		}
		for _, peer := range c.Peers {
			host := strings.TrimPrefix(peer, "https://")
			if !strings.Contains(read("compose.yaml"), `--advertise, "`+peer+`"`) || !strings.Contains(read("Caddyfile"), "\n"+host+" {") {
				t.Errorf("compose.yaml or the Caddyfile does not have the peer %s", peer)
			}
		}
	}
}
