package manifests

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// configuration are files that a user of the chart gives it.
var configuration = map[string]any{
	"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  people: { schema: schema.pg, queries: queries/ }\n",
	"schema.pg":    "node Person {\n  name: String @key\n}\n", "queries/people.gq": "// \"quotes\": {{ braces }}\n",
}

// rendered renders the templates of the chart with values, and returns their texts by name.
func rendered(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	c, err := loader.Load(filepath.Join(folder, "chart"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "brain", Namespace: "default"}, chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := engine.Render(c, all)
	byName := map[string]string{}
	for name, text := range texts {
		byName[path.Base(name)] = text
	}
	return byName, err
}

// TestChart renders the Helm chart with its own library, decodes each object into its Go type, and checks the references
// between the objects.
func TestChart(t *testing.T) {
	if _, err := rendered(t, nil); err == nil || !strings.Contains(err.Error(), "files has no cluster.yaml") {
		t.Errorf("without files: %v", err)
	}
	for _, tt := range []struct {
		name, set string
		secret    bool
	}{
		{"defaults", "", true},
		{"set", "host=brain.example.com,tokensSecret=,image.tag=1.2.3,volume.storageClass=fast,memory=4096,files.cluster\\.yaml=version: 1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]any{}
			for name, text := range configuration {
				files[name] = text
			}
			values := map[string]any{"files": files}
			if err := strvals.ParseInto(tt.set, values); err != nil {
				t.Fatal(err)
			}
			texts, err := rendered(t, values)
			if err != nil {
				t.Fatal(err)
			}
			var config corev1.ConfigMap
			var service corev1.Service
			var set appsv1.StatefulSet
			for name, object := range map[string]any{"configmap.yaml": &config, "service.yaml": &service, "statefulset.yaml": &set} {
				if err := yaml.UnmarshalStrict([]byte(texts[name]), object); err != nil {
					t.Fatalf("%s: %v in\n%s", name, err, texts[name])
				}
			}
			pod := set.Spec.Template
			for _, selector := range []map[string]string{service.Spec.Selector, set.Spec.Selector.MatchLabels} {
				for name, value := range selector {
					if pod.Labels[name] != value {
						t.Errorf("a selector has %s=%s, which the pod does not have", name, value)
					}
				}
			}
			volumes := map[string]bool{set.Spec.VolumeClaimTemplates[0].Name: true}
			for _, v := range pod.Spec.Volumes {
				volumes[v.Name] = true
				if v.ConfigMap != nil && v.ConfigMap.Name != config.Name {
					t.Errorf("the volume %s names the missing map %s", v.Name, v.ConfigMap.Name)
				}
			}
			if volumes["tokens"] != tt.secret {
				t.Errorf("the volumes are %v", volumes)
			}
			image := map[bool]string{true: "ghcr.io/omnigraph-go/omnigraph:0.0.0", false: "ghcr.io/omnigraph-go/omnigraph:1.2.3"}[tt.secret]
			for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
				if s := c.SecurityContext; c.Image != image || s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
					t.Errorf("the container %s has the image %s and the rights %v", c.Name, c.Image, s)
				}
				given := map[string]any{}
				for _, m := range c.VolumeMounts {
					if !volumes[m.Name] {
						t.Errorf("the container %s mounts the missing volume %s", c.Name, m.Name)
					}
					if m.Name == "files" {
						given[strings.TrimPrefix(m.MountPath, "/app/")] = config.Data[m.SubPath]
					}
				}
				for name, text := range files {
					if given[name] != text {
						t.Errorf("the container %s has %s as %q; want %q", c.Name, name, given[name], text)
					}
				}
			}
			server := pod.Spec.Containers[0]
			if probe := server.ReadinessProbe.HTTPGet; probe.Port.String() != server.Ports[0].Name || service.Spec.Ports[0].TargetPort != probe.Port {
				t.Errorf("the probe asks the port %s", probe.Port.String())
			}
			if memory := server.Resources.Limits.Memory().Value() >> 20; !strings.HasPrefix(server.Env[0].Value, map[int64]string{2048: "1843MiB", 4096: "3686MiB"}[memory]) {
				t.Errorf("the server has %d MiB and %v", memory, server.Env[0])
			}
		})
	}
}
