package tasks

import "math/rand/v2"

// names draws names that differ from each other.
type names struct {
	rng  *rand.Rand
	used map[string]bool
}

// newNames returns a source of names for a graph. Each kind of graph has a stream of random numbers of its own.
func newNames(seed, stream uint64) *names {
	return &names{rand.New(rand.NewPCG(seed, stream)), map[string]bool{}}
}

// of draws a name from one or two lists of words, which `join` puts together.
func (n *names) of(join func(a, b string) string, first, second []string) string {
	for {
		if s := join(n.pick(first), n.pick(second)); !n.used[s] {
			n.used[s] = true
			return s
		}
	}
}

// pick draws an element.
func (n *names) pick(list []string) string { return list[n.rng.IntN(len(list))] }

// some draws k different numbers below size.
func (n *names) some(k, size int) []int { return n.rng.Perm(size)[:k] }

// word makes up a word that is in no dictionary.
func (n *names) word() string {
	syllables := []string{"bra", "dro", "fel", "gri", "kam", "lus", "mor", "nex", "pol", "quin", "rav", "sti", "tur", "vel", "zan"}
	for {
		if s := n.pick(syllables) + n.pick(syllables) + n.pick(syllables); !n.used[s] {
			n.used[s] = true
			return s
		}
	}
}

// hyphen, dot and joined put two words together.
func hyphen(a, b string) string { return a + "-" + b }
func joined(a, b string) string { return a + b }
func spaced(a, b string) string { return a + " " + b }

// The words of names and texts.
var (
	firstNames = []string{"Ada", "Bela", "Chidi", "Dana", "Edda", "Farid", "Gita", "Hugo", "Ines", "Jun", "Kofi", "Lena", "Milo", "Nadia", "Omar", "Pia", "Quentin", "Rosa", "Sven", "Tala", "Uma", "Viktor", "Wanda", "Yara"}
	lastNames  = []string{"Abara", "Brandt", "Castro", "Dimitrov", "Eriksen", "Fontaine", "Garcia", "Hashimoto", "Ivanova", "Jansen", "Kowalski", "Lindgren", "Moreau", "Novak", "Osei", "Petrov", "Quist", "Rossi", "Schmidt", "Tanaka"}
	nouns      = []string{"ledger", "invoice", "parcel", "tariff", "warranty", "voucher", "contract", "deposit", "catalogue", "schedule", "roster", "budget", "survey", "forecast", "archive", "manifest", "quota", "refund", "receipt", "permit"}
	things     = []string{"limits", "rules", "study", "review", "format", "policy", "costs", "access", "storage", "layout", "backup", "export", "audit", "rollout", "naming", "training", "hosting", "pricing", "metrics", "labels"}
	verbs      = []string{"Parse", "Load", "Merge", "Encode", "Check", "Split", "Resolve", "Render", "Collect", "Apply", "Trim", "Scan", "Build", "Fetch", "Sort", "Reduce", "Match", "Expand", "Join", "Prune"}
	goNouns    = []string{"Ledger", "Header", "Record", "Batch", "Token", "Frame", "Policy", "Window", "Bucket", "Cursor", "Digest", "Region", "Schema", "Packet", "Ticket", "Route", "Branch", "Column", "Filter", "Ratio"}
)
