package cluster

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// watchSettings describes the section watches of a graph.
var watchSettings = &setting{
	Key: "watches", Type: strictyaml.Mapping, Default: "no webhooks", Example: "{ webhook_hosts: [hooks.example.com], rights_for: 168h }",
	Text: "This section says where the events of watches may be sent.",
	Keys: []*setting{
		{Key: "webhook_hosts", Type: strictyaml.List, Default: "none", Example: "[hooks.example.com, \"hooks.example.org:8443\"]",
			Each:   &setting{Example: "hooks.example.com", Limits: "a host name, with a port unless it is 443", Text: "This is a host that receives events."},
			Limits: "host names, each with a port unless it is 443",
			Text:   "An actor with the action watch_webhook can have the events of its watches sent to these hosts, over https. Hosts with private addresses are refused when the server connects."},
		{Key: "webhook_loopback", Type: strictyaml.Bool, Default: "false", Example: "true",
			Text: "If this is true, events can also be sent to loopback, over http or https and to any port; it is for tests."},
		{Key: "rights_for", Default: "720h", Example: "168h", Pattern: durationPattern, Limits: "a duration from 1h to 87600h",
			Text: "A webhook has the rights that its owner had at its last call. It pauses if the owner makes no call for this time, and the next call resumes it."},
	},
}

// Watches are the settings of the watches of a graph.
type Watches struct {
	Hosts     []string      // of webhooks, in lower case, each with its port unless that is 443
	Loopback  bool          // webhooks may be on loopback
	RightsFor time.Duration // how long the rights of the owner of a webhook count after its last call; 0 for the default
}

// watches reads the section watches of a graph.
func (p *reader) watches(g *Graph, n *strictyaml.Node) {
	f, ok := n.Mapping("watches", watchSettings)
	if !ok {
		return
	}
	hosts, _ := f["webhook_hosts"].Texts("webhook_hosts")
	for _, h := range hosts {
		host, err := receiver(h.Key)
		if err != nil {
			h.At.Fault(strictyaml.BadValue, err.Error(), "write only the name of the host, such as hooks.example.com")
			continue
		}
		g.Watches.Hosts = append(g.Watches.Hosts, host)
	}
	g.Watches.Loopback, _ = f["webhook_loopback"].Bool("webhook_loopback")
	duration(f["rights_for"], "watches.rights_for", time.Hour, maxDraftKeep, &g.Watches.RightsFor)
}

// receiver returns a host of webhooks in the form of [Watches].
func receiver(text string) (string, error) {
	u, err := url.Parse("https://" + text)
	if err != nil || u.Hostname() == "" || u.Host != text || strings.ContainsAny(text, "*@") || strings.HasSuffix(text, ":") {
		return "", fmt.Errorf("webhook_hosts has %q, expected a host name, with a port unless it is 443", text)
	}
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && port != "443" {
		return net.JoinHostPort(host, port), nil
	}
	return host, nil
}
