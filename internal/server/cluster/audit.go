package cluster

import (
	"time"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Audit configures the audit trail of the server. A zero field means its default.
type Audit struct {
	Off    bool          // the server keeps no trail
	Keep   time.Duration // how long it keeps records
	Quota  int64         // bytes of the records of one server
	Refuse bool          // refuse calls when the quota is used up, instead of removing the oldest records
	Values bool          // record the arguments of calls, and not only digests of them
}

// The defaults of the audit trail.
const (
	DefaultAuditKeep  = 90 * 24 * time.Hour
	DefaultAuditQuota = 1 << 30 // bytes
)

// The values of on_full.
const (
	fullDrop   = "drop"
	fullRefuse = "refuse"
)

// The bounds of keep.
const (
	minAuditKeep = time.Hour
	maxAuditKeep = 87600 * time.Hour
)

// auditSettings describes the section server.audit.
var auditSettings = &setting{
	Key: "audit", Type: strictyaml.Mapping, Default: "the defaults of its keys", Example: "{ keep: 8760h, quota: 10GiB }",
	Text: "This section says what the server keeps of the calls that it answers: see the guide on the audit trail.",
	Keys: []*setting{
		{Key: "enabled", Type: strictyaml.Bool, Default: "true", Example: "false",
			Text: "If this is false, the server records no calls, and nobody can ask who read what."},
		{Key: "keep", Default: "2160h, which is 90 days", Example: "8760h", Pattern: durationPattern, Limits: "a duration from 1h to 87600h",
			Text: "The server removes records after this time."},
		{Key: "quota", Default: "1GiB", Example: "10GiB", Pattern: sizePattern, Limits: "a whole number of MiB, GiB or TiB, at most 1024TiB",
			Text: "The records of one server may take this room."},
		{Key: "on_full", Type: strictyaml.Choice, OneOf: []string{fullDrop, fullRefuse}, Default: fullDrop, Example: fullRefuse,
			Text: "This says what happens when the room is used up: the server drops the oldest records and counts them, or refuses calls until there is room."},
		{Key: "values", Type: strictyaml.Bool, Default: "false", Example: "true",
			Text: "If this is true, records have the arguments of calls; otherwise they have digests, which only tell whether two calls had the same arguments."},
	},
}

// audit reads the section audit.
func (p *reader) audit(n *strictyaml.Node) {
	a := &p.cfg.Server.Audit
	*a = Audit{Keep: DefaultAuditKeep, Quota: DefaultAuditQuota}
	f, ok := n.Mapping("audit", auditSettings)
	if !ok {
		return
	}
	if on, ok := f["enabled"].Bool("enabled"); ok {
		a.Off = !on
	}
	duration(f["keep"], "server.audit.keep", minAuditKeep, maxAuditKeep, &a.Keep)
	size(f["quota"], "server.audit.quota", &a.Quota)
	word, _ := f["on_full"].Word()
	a.Refuse = word == fullRefuse
	a.Values, _ = f["values"].Bool("values")
}
