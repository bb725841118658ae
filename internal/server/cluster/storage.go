package cluster

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/address"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// The defaults and the bounds of the settings of shared storage.
const (
	DefaultLease        = 10 * time.Second
	DefaultIdle         = 10 * time.Minute
	DefaultMaxStaleness = time.Minute
	DefaultRetention    = 24 * time.Hour

	minLease, maxLease         = time.Second, 5 * time.Minute
	minIdle, maxIdle           = time.Second, 30 * 24 * time.Hour
	minStaleness, maxStaleness = 5 * time.Second, 24 * time.Hour
	minRetention, maxRetention = time.Second, 30 * 24 * time.Hour
)

// storageSettings describes the mapping of the key storage.
var storageSettings = &setting{
	Type: strictyaml.Mapping, Example: "{ url: \"s3://team-graphs/prod?region=eu-central-1\", cache: /var/lib/omnigraph/cache }",
	Text: "Several servers share this storage: one writes a graph, all of them read it, and each of them can take over.",
	Keys: []*setting{
		{Key: "url", Required: true, Example: "\"postgres://graphs@db.internal/graphs\"", Limits: address.Forms + "; or the path of a folder, as without the mapping",
			Text: "This is the address of the storage; credentials come from the environment of the process."},
		{Key: "cache", Default: "none; required unless url is a folder", Example: "/var/lib/omnigraph/cache", Limits: "a path from the folder of cluster.yaml, on a disk of this machine",
			Text: "Each server keeps copies of stored data in this folder; two servers on one machine need two folders."},
		{Key: "cache_bytes", Default: "none; the cache grows until it is as large as the graphs", Example: "50GiB", Pattern: sizePattern, Limits: "a whole number of MiB, GiB or TiB, at most 1024TiB",
			Text: "When the cache is larger, the server removes the copies that it does not use at the moment, the least recently used first."},
		{Key: "lease", Default: "10s", Example: "20s", Pattern: durationPattern, Limits: "a duration from 1s to 5m",
			Text: "When the server that writes a graph has given no sign of life for this time, another server takes over."},
		{Key: "idle", Default: "10m", Example: "1h", Pattern: durationPattern, Limits: "a duration from 1s to 720h",
			Text: "A server closes a graph that it has not used for this time, and opens it again with the next request."},
		{Key: "max_staleness", Default: "1m", Example: "5m", Pattern: durationPattern, Limits: "a duration from 5s to 24h",
			Text: "A server that cannot reach the storage answers reads from its copy for this time, and then refuses them with 503."},
		{Key: "retention", Default: "24h", Example: "72h", Pattern: durationPattern, Limits: "a duration from 1s to 720h; the same on all servers",
			Text: "Deleted and replaced data stays in the storage for this time, for servers that still read it; the longest export should be shorter."},
	},
}

// peersSettings describes the key peers.
var peersSettings = &setting{
	Key: "peers", Type: strictyaml.List, Default: "none; then a server refuses writes to a graph that another server writes", Example: "[\"https://og-1.internal:8080\", \"https://og-2.internal:8080\"]",
	Each:   &setting{Example: "\"https://og-1.internal:8080\"", Pattern: `^https?://`, Limits: "https://host[:port], or http://host[:port] on loopback", Text: "This is the address of a server."},
	Limits: "addresses of the form https://host or https://host:port; http:// only on loopback; only with shared storage",
	Text:   "These are the addresses of all servers of the cluster; a server forwards writes, with the token of the caller, only to them.",
}

// storage reads the key `storage`: the path of the data folder, or the mapping for shared storage.
func (p *reader) storage(n *strictyaml.Node) {
	if !n.IsText() {
		p.sharedStorage(n)
		return
	}
	s, ok := n.Text("storage")
	if !ok {
		return
	}
	if address.Is(s) {
		n.AtKey().Fault(strictyaml.WrongType, "storage is an address, but shared storage also needs the folder of a cache", "write storage: { url: \"…\", cache: ./cache }")
		return
	}
	p.folder(n, s)
}

// folder sets the data folder of the configuration.
func (p *reader) folder(n *strictyaml.Node, path string) {
	p.cfg.Storage = p.join(path)
	if info, err := os.Stat(p.cfg.Storage); err == nil && !info.IsDir() {
		n.Fault(strictyaml.MissingFile, fmt.Sprintf("storage %q is a file, expected a folder", path), "")
	}
}

// sharedStorage reads the value of the key `storage` if it is a mapping.
func (p *reader) sharedStorage(n *strictyaml.Node) {
	f, ok := n.Mapping("storage", storageSettings)
	if !ok {
		return
	}
	at, ok := n.Require(f, "url", "storage").Text("storage.url")
	if !ok {
		return
	}
	if !address.Is(at) {
		for _, key := range []string{"cache", "cache_bytes", "lease", "idle", "max_staleness", "retention"} {
			if x := f[key]; x != nil {
				x.AtKey().Fault(strictyaml.Contradicts, fmt.Sprintf("storage.url is a folder, so storage.%s has no effect", key), "remove it; or, to share the folder with other servers on this machine, write its address as file:///path")
			}
		}
		p.folder(f["url"], at)
		return
	}
	var scheme *address.SchemeError
	switch err := address.Check(at); {
	case errors.As(err, &scheme):
		f["url"].Fault(strictyaml.Unsupported, err.Error(), "")
	case err != nil:
		f["url"].Fault(strictyaml.BadValue, err.Error(), "")
	}
	s := &Shared{URL: at, Lease: DefaultLease, Idle: DefaultIdle, MaxStaleness: DefaultMaxStaleness, Retention: DefaultRetention}
	if cache, ok := n.Require(f, "cache", "storage").Text("storage.cache"); ok {
		s.Cache = p.join(cache)
		if info, err := os.Stat(s.Cache); err == nil && !info.IsDir() {
			f["cache"].Fault(strictyaml.MissingFile, fmt.Sprintf("storage.cache %q is a file, expected a folder", cache), "")
		}
	}
	size(f["cache_bytes"], "storage.cache_bytes", &s.CacheBytes)
	duration(f["lease"], "storage.lease", minLease, maxLease, &s.Lease)
	duration(f["idle"], "storage.idle", minIdle, maxIdle, &s.Idle)
	duration(f["max_staleness"], "storage.max_staleness", minStaleness, maxStaleness, &s.MaxStaleness)
	duration(f["retention"], "storage.retention", minRetention, maxRetention, &s.Retention)
	p.cfg.Shared = s
}

// sizePattern matches a size, such as 50GiB.
const sizePattern = `^[1-9][0-9]{0,8}(MiB|GiB|TiB)$`

// maxSize is the greatest size in bytes: 1024 TiB.
const maxSize = 1 << 50

// size reads a size and stores it, in bytes, in *to. It does nothing if n is nil.
func size(n *strictyaml.Node, what string, to *int64) {
	s, ok := n.Text(what)
	if !ok {
		return
	}
	if number, unit, ok := cutUnit(s); ok {
		if v, err := strconv.ParseInt(number, 10, 64); err == nil && v > 0 && v <= maxSize/unit {
			*to = v * unit
			return
		}
	}
	n.Fault(strictyaml.BadValue, fmt.Sprintf("%s is %q, expected a whole number of MiB, GiB or TiB, at most 1024TiB, such as 50GiB", what, s), "")
}

// cutUnit splits a size into its number and its unit in bytes.
func cutUnit(s string) (number string, unit int64, ok bool) {
	for i, name := range []string{"MiB", "GiB", "TiB"} {
		if number, ok := strings.CutSuffix(s, name); ok {
			return number, 1 << (20 + 10*i), true
		}
	}
	return "", 0, false
}

// duration reads a duration and stores it in *to. It reports a fault if the duration is shorter
// than `least` or longer than `most`. It does nothing if n is nil.
func duration(n *strictyaml.Node, what string, least, most time.Duration, to *time.Duration) {
	s, ok := n.Text(what)
	if !ok {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < least || d > most {
		n.Fault(strictyaml.BadValue, fmt.Sprintf("%s is %q, expected a duration from %v to %v, such as 10s", what, s, least, most), "")
		return
	}
	*to = d
}

// peers reads the addresses of the servers.
func (p *reader) peers(n *strictyaml.Node) {
	entries, ok := n.Texts("peers")
	if !ok {
		return
	}
	if p.cfg.Shared == nil && p.cfg.Storage != "" {
		n.AtKey().Fault(strictyaml.Contradicts, "peers need shared storage, but storage is a folder of one server", "remove peers, or write storage: { url: \"…\", cache: ./cache }")
		return
	}
	for _, e := range entries {
		at, err := PeerAddress(e.Key)
		switch {
		case err != nil:
			e.At.Fault(strictyaml.BadValue, err.Error(), "")
		case slices.Contains(p.cfg.Peers, at):
			e.At.Fault(strictyaml.Duplicate, fmt.Sprintf("the address %s occurs twice", at), "remove one of them")
		default:
			p.cfg.Peers = append(p.cfg.Peers, at)
		}
	}
}

// PeerAddress returns the address of a server in the form scheme://host[:port]. The error says what
// is wrong with it.
func PeerAddress(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("the address %q of a server is not of the form https://host or https://host:port", text)
	case u.Scheme == "http" && !hostcheck.IsLoopback(u.Hostname()):
		return "", fmt.Errorf("the address %s would send tokens over a network without encryption; use https://", text)
	}
	return u.Scheme + "://" + u.Host, nil
}
