package manifests

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// folder has the files under test.
const folder = "../../docs/deployment"

// TestCompose loads the compose files with the library of Docker Compose. The library checks them
// against its schema, resolves references and refuses unknown keys.
func TestCompose(t *testing.T) {
	for _, tt := range []struct {
		file     string
		services []string
	}{
		{"compose.yaml", []string{"apply", "server"}},
		{"servers/compose.yaml", []string{"apply", "database", "og-1", "og-2", "og-3", "proxy"}},
	} {
		options, err := cli.NewProjectOptions([]string{filepath.Join(folder, tt.file)}, cli.WithProfiles([]string{"apply"}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := options.LoadProject(t.Context())
		if err != nil {
			t.Errorf("%s: %v", tt.file, err)
			continue
		}
		names := p.ServiceNames()
		slices.Sort(names)
		if !slices.Equal(names, tt.services) {
			t.Errorf("%s has the services %v; want %v", tt.file, names, tt.services)
		}
		for _, name := range names {
			s := p.Services[name]
			if s.Image == "omnigraph" && (s.User != "65532:65532" || !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"})) {
				t.Errorf("%s: the service %s is not confined", tt.file, name)
			}
			for _, secret := range s.Secrets {
				if _, ok := p.Secrets[secret.Source]; !ok {
					t.Errorf("%s: the service %s uses the secret %s, which is not defined", tt.file, name, secret.Source)
				}
			}
			if strings.HasPrefix(name, "og-") && !slices.Contains([]string(s.Command), name) {
				t.Errorf("%s: the server %s has the command %v, which does not name it", tt.file, name, s.Command)
			}
		}
	}
}

// TestKubernetes decodes each object of the Kubernetes file into its Go type. A key that the type does not
// have, or that occurs twice, is an error. It then checks the references between the objects.
func TestKubernetes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder, "servers/kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() any{
		"ServiceAccount": func() any { return &corev1.ServiceAccount{} }, "ConfigMap": func() any { return &corev1.ConfigMap{} },
		"Service": func() any { return &corev1.Service{} }, "PodDisruptionBudget": func() any { return &policyv1.PodDisruptionBudget{} },
		"Job": func() any { return &batchv1.Job{} }, "StatefulSet": func() any { return &appsv1.StatefulSet{} },
	}
	versions := map[string]string{
		"ServiceAccount": "v1", "ConfigMap": "v1", "Service": "v1", "PodDisruptionBudget": "policy/v1", "Job": "batch/v1", "StatefulSet": "apps/v1",
	}
	found := map[string][]any{}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(document, &head); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if kinds[head.Kind] == nil || versions[head.Kind] != head.APIVersion {
			t.Fatalf("an object has the kind %s of %s, which this test does not know", head.Kind, head.APIVersion)
		}
		object := kinds[head.Kind]()
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			t.Errorf("%s: %v", head.Kind, err)
		}
		found[head.Kind] = append(found[head.Kind], object)
	}
	for kind := range kinds {
		if len(found[kind]) == 0 {
			t.Errorf("the file has no %s", kind)
		}
	}
	if t.Failed() {
		return
	}
	set, config := found["StatefulSet"][0].(*appsv1.StatefulSet), found["ConfigMap"][0].(*corev1.ConfigMap)
	account, headless := found["ServiceAccount"][0].(*corev1.ServiceAccount), found["Service"][0].(*corev1.Service)
	labels := set.Spec.Template.Labels
	for _, s := range found["Service"] {
		for name, value := range s.(*corev1.Service).Spec.Selector {
			if labels[name] != value {
				t.Errorf("a service selects %s=%s, which the pods do not have", name, value)
			}
		}
	}
	if set.Spec.ServiceName != headless.Name || headless.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("the pods have the service %q; want the headless service %s", set.Spec.ServiceName, headless.Name)
	}
	for i := range int(*set.Spec.Replicas) {
		if peer := "https://" + set.Name + "-" + string(rune('0'+i)) + "." + headless.Name + ".default.svc.cluster.local:8443"; !strings.Contains(config.Data["cluster.yaml"], peer) {
			t.Errorf("peers does not list %s", peer)
		}
	}
	job := found["Job"][0].(*batchv1.Job)
	for what, pod := range map[string]corev1.PodSpec{"StatefulSet": set.Spec.Template.Spec, "Job": job.Spec.Template.Spec} {
		if pod.ServiceAccountName != account.Name {
			t.Errorf("the pods of the %s have the service account %q; want %s", what, pod.ServiceAccountName, account.Name)
		}
		volumes := map[string]bool{}
		for _, v := range pod.Volumes {
			volumes[v.Name] = true
			if v.ConfigMap != nil && v.ConfigMap.Name != config.Name {
				t.Errorf("the volume %s of the %s names the missing map %s", v.Name, what, v.ConfigMap.Name)
			}
		}
		if what == "StatefulSet" {
			for _, c := range set.Spec.VolumeClaimTemplates {
				volumes[c.Name] = true
			}
		}
		for _, c := range pod.Containers {
			if s := c.SecurityContext; s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
				t.Errorf("the container %s of the %s can write to its root", c.Name, what)
			}
			for _, m := range c.VolumeMounts {
				if !volumes[m.Name] {
					t.Errorf("the container %s of the %s mounts the missing volume %s", c.Name, what, m.Name)
				}
				if _, ok := config.Data[m.SubPath]; m.SubPath != "" && !ok {
					t.Errorf("the container %s of the %s mounts %s, which the map does not have", c.Name, what, m.SubPath)
				}
			}
		}
	}
}
