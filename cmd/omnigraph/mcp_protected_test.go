package main

import (
	"strings"
	"testing"
)

// TestProtectedBranchesOfCluster checks that a policy in Cedar's own language gets the protected branches of
// cluster.yaml, and that a cluster.yaml with errors does not count as one without protected branches.
func TestProtectedBranchesOfCluster(t *testing.T) {
	t.Chdir(t.TempDir())
	native, yaml := endpoint{graph: "shop", policy: "policy.cedar"}, endpoint{graph: "shop", policy: "policy.yaml"}
	if r, err := native.protected(); err != nil || len(r.Branches) != 0 {
		t.Errorf("without cluster.yaml: %+v, %v", r, err)
	}
	const cluster = "version: 1\nstorage: ./data\ngraphs:\n  shop: { schema: schema.pg, queries: [], protected_branches: [main] }\npolicies:\n  base: { file: policy.cedar, applies_to: [shop] }\n"
	write(t, "schema.pg", "")
	write(t, "policy.cedar", "")
	write(t, "cluster.yaml", cluster)
	for graph, want := range map[string]int{"shop": 1, "other": 0} {
		native.graph = graph
		if r, err := native.protected(); err != nil || len(r.Branches) != want {
			t.Errorf("graph %s: %+v, %v", graph, r, err)
		}
	}
	write(t, "cluster.yaml", cluster+"unknown: key\n")
	if _, err := native.protected(); err == nil || !strings.Contains(err.Error(), "cluster.yaml has errors") {
		t.Errorf("with a faulty cluster.yaml: %v", err)
	}
	if _, err := yaml.protected(); err != nil {
		t.Errorf("a policy in YAML does not need cluster.yaml: %v", err)
	}
}
