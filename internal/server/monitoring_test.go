package server_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/omnigraph-go/omnigraph/internal/server/internal/admission"
	"github.com/omnigraph-go/omnigraph/internal/server/observe"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

const monitoring = "../../docs/deployment/"

// TestMonitoring checks each expression of the alert rules and of the dashboard against the table of metrics. TestMonitoring of
// test/e2e runs the expressions in Prometheus, where it is installed.
func TestMonitoring(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile(monitoring + "alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(text, &rules, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if len(rules.Groups) != 1 || len(rules.Groups[0].Rules) < 10 {
		t.Fatalf("the rules are %+v", rules)
	}
	for _, r := range rules.Groups[0].Rules {
		for _, fault := range wrongExpression(r.Expr) {
			t.Errorf("%s: %s", r.Alert, fault)
		}
		if s := r.Labels["severity"]; s != "page" && s != "ticket" || r.Annotations["summary"] == "" {
			t.Errorf("%s has the severity %q and the annotations %v", r.Alert, s, r.Annotations)
		}
	}

	var dashboard struct {
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
	}
	if text, err = os.ReadFile(monitoring + "dashboard.json"); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	ids, covered := map[int]bool{}, map[[2]int]string{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] || (len(p.Targets) == 0) != (p.Type == "row") {
			t.Errorf("the panel %s has the id %d and %d expressions", p.Title, p.ID, len(p.Targets))
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if covered[at] != "" || at[0] >= 24 {
					t.Errorf("the panel %s covers %s, or is too wide", p.Title, covered[at])
				}
				covered[at] = p.Title
			}
		}
		for _, target := range p.Targets {
			for _, fault := range wrongExpression(target.Expr) {
				t.Errorf("the panel %s: %s", p.Title, fault)
			}
		}
	}
	if len(ids) < 20 {
		t.Errorf("the dashboard has %d panels", len(ids))
	}
}

// TestWrongExpression checks that wrongExpression finds faults.
func TestWrongExpression(t *testing.T) {
	for _, tt := range []struct {
		expr   string
		faults int
	}{
		{`sum by (tool) (rate(omnigraph_calls_total{graph=~"$graph",outcome!="ok"}[5m]))`, 0},
		{`histogram_quantile(0.9, sum by (le, route) (rate(omnigraph_http_request_seconds_bucket[5m])))`, 0},
		{`omnigraph_graph_colour > 1`, 1}, {`omnigraph_calls_total{colour="red"}`, 1}, {`sum by (colour) (omnigraph_draining)`, 1},
		{`omnigraph_calls_total{outcome=~"ok|lost"}`, 1}, {`rate(omnigraph_draining[5m])`, 1}, {`delta(omnigraph_calls_total[5m])`, 1},
		{`omnigraph_call_rows_total_bucket`, 1},
	} {
		if faults := wrongExpression(tt.expr); len(faults) != tt.faults {
			t.Errorf("%s: the faults are %q; want %d", tt.expr, faults, tt.faults)
		}
	}
}

var (
	selector   = regexp.MustCompile(`(?:\b(rate|increase|delta)\()?\b(omnigraph_[a-z_]+)\b(\{[^}]*\})?`)
	matcher    = regexp.MustCompile(`([a-z_]+)(?:=~|!=|!~|=)"([^"]*)"`)
	groupingBy = regexp.MustCompile(`\bby \(([a-z_, ]*)\)`)
)

// wrongExpression returns what is wrong with the metrics in an expression of Prometheus, or in a text with
// expressions: unknown names, labels and values of labels, and functions that the kind of a metric does not have.
func wrongExpression(expr string) (faults []string) {
	values := map[string][]string{"outcome": {"ok", "failed"}, "class": {"2xx", "3xx", "4xx", "5xx"}}
	for _, o := range wireerror.Outcomes {
		values["outcome"] = append(values["outcome"], string(o))
	}
	for _, r := range admission.Reasons {
		values["reason"] = append(values["reason"], string(r))
	}
	labels := []string{"le", "instance", "job"} // of buckets, and those that Prometheus adds
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		function, name := m[1], m[2]
		i := slices.IndexFunc(observe.Metrics[:], func(of observe.Metric) bool {
			return of.Name == name || of.Kind == observe.Histogram && of.Name+"_bucket" == name
		})
		if i < 0 {
			faults = append(faults, "there is no metric "+name)
			continue
		}
		of := observe.Metrics[i]
		if function != "" && (function == "delta") != (of.Kind == observe.Gauge) {
			faults = append(faults, function+" does not suit the "+string(of.Kind)+" "+name)
		}
		labels = append(labels, of.Labels...)
		for _, label := range matcher.FindAllStringSubmatch(m[3], -1) {
			if !slices.Contains(of.Labels, label[1]) {
				faults = append(faults, name+" has no label "+label[1])
				continue
			}
			for value := range strings.SplitSeq(label[2], "|") {
				if known := values[label[1]]; known != nil && !slices.Contains(known, value) {
					faults = append(faults, "the label "+label[1]+" has no value "+value)
				}
			}
		}
	}
	for _, m := range groupingBy.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(m[1], ", ") {
			if !slices.Contains(labels, label) {
				faults = append(faults, "nothing has the label "+label)
			}
		}
	}
	return faults
}
