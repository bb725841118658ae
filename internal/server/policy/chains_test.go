package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// chainCall is a random call of a random chain.
type chainCall struct {
	user   string
	agents []string // the current one first
	held   []string // scopes of the token; nil for a token without scopes
	grant  tool.Grant
}

// knownScopes are the scopes that the server of the random calls knows.
var knownScopes = []access.Scope{
	{Name: "look", Actions: []tool.Action{tool.Read, tool.InvokeQuery}},
	{Name: "write", Actions: []tool.Action{tool.Change, tool.BranchCreate, tool.BranchMerge}},
}

// actor returns the actor of a call.
func (c *chainCall) actor() *access.Actor {
	a := &access.Actor{ID: c.user, Source: "oidc"}
	for _, id := range c.agents {
		a.Agents = append(a.Agents, access.Agent{ID: id})
	}
	if c.held != nil {
		a.Scopes = &access.Scopes{Known: knownScopes, Held: c.held}
	}
	return a
}

// permits is the oracle: a call passes if the policy allows it to everyone who is asked, and a scope covers it.
func (c *chainCall) permits(b *naiveBundle, earlier bool) bool {
	covered := c.held == nil || slices.ContainsFunc(knownScopes, func(s access.Scope) bool {
		return slices.Contains(c.held, s.Name) && slices.Contains(s.Actions, c.grant.Action)
	})
	return covered && b.allowsChain(c.user, c.agents, earlier, c.grant)
}

// drawCall returns a random call.
func drawCall(r *rand.Rand) *chainCall {
	ids := slices.Clone(naiveActors)
	r.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
	c := &chainCall{user: ids[0], agents: ids[1 : 1+r.IntN(len(ids))]}
	if r.IntN(3) == 0 {
		c.held = [][]string{{}, {"look"}, {"write"}, {"look", "write"}, {"email", "look"}}[r.IntN(5)]
	}
	rows := []tool.Action{tool.Read, tool.Change, tool.InvokeQuery, tool.BranchCreate, tool.BranchMerge, tool.ProposalReview, tool.Export, tool.Admin}
	action := rows[r.IntN(len(rows))]
	row := action.Row()
	c.grant = tool.Grant{Action: action, Branch: tool.BranchNamed(naiveBranches[r.IntN(len(naiveBranches))]), OwnDraft: access.OnBranch(action) && r.IntN(3) == 0}
	if row.ByVia() {
		c.grant.Via = row.Vias[r.IntN(2)]
	}
	if action == tool.InvokeQuery || c.grant.Via == tool.Stored {
		c.grant.Query = naiveQueries[r.IntN(len(naiveQueries))]
	}
	return c
}

// TestRandomChains decides about 100,000 random chains, and compares each decision with the oracle. Nobody may do more through an
// agent than alone, nor with one more agent than without it, and a token with fewer scopes may not do more.
func TestRandomChains(t *testing.T) {
	const seed, bundles, calls = 20261129, 1000, 100
	r := rand.New(rand.NewPCG(seed, 2))
	decided, allowed, acting := 0, 0, 0
	for range bundles {
		b := draw(r)
		earlier := r.IntN(2) == 0
		p, err := Compile("policy.yaml", []byte(b.yaml()), Options{Graph: "code", Queries: naiveQueries, EarlierAgents: earlier})
		if err != nil {
			t.Fatalf("%v\n%s", err, b.yaml())
		}
		control := access.NewControl(p, nil, nil)
		may := func(c chainCall) bool { return control.Allowed(c.actor(), c.grant) }
		for range calls {
			c := drawCall(r)
			got := may(*c)
			if want := c.permits(b, earlier); got != want {
				t.Fatalf("%+v, earlier agents %v: decided %v, want %v\n%s", c, earlier, got, want, b.yaml())
			}
			decided++
			if !got {
				continue
			}
			allowed++
			for n := range c.agents {
				acting++
				less := *c
				less.agents = c.agents[len(c.agents)-n:] // the token before the last exchange, and finally that of the user alone
				if earlier || n == 0 {
					if !may(less) {
						t.Fatalf("%+v is allowed, and with the agents %v it is not\n%s", c, less.agents, b.yaml())
					}
				}
			}
			free := *c
			free.held = nil
			if !may(free) {
				t.Fatalf("%+v is allowed, and without scopes it is not\n%s", c, b.yaml())
			}
		}
	}
	if decided != bundles*calls || allowed*20 < decided || acting*50 < decided {
		t.Errorf("%d of %d allowed, %d through an agent: the comparison says little", allowed, decided, acting)
	}
}

// TestChainText compiles rules about agents to Cedar, and to a file that stands alone. Both must decide alike.
func TestChainText(t *testing.T) {
	const text = `version: 1
groups: { people: [ada], bots: [bot], staff: [ada] }
rules:
  - id: people-write
    allow: { actors: { group: people }, actions: [read, change] }
  - id: bots-help
    allow: { actors: { group: bots }, actions: [read, change], as: agent }
  - id: not-through-bots
    deny: { actors: any, actions: [change], via: adhoc, through: { group: bots } }
`
	p, err := Compile("policy.yaml", []byte(text), Options{Graph: "code"})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := CompileCedar("policy.cedar", []byte(p.Standalone()), Options{Graph: "code", AnyQuery: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Standalone())
	}
	read, change := tool.Grant{Action: tool.Read}, tool.Grant{Action: tool.Change}
	stored := tool.Grant{Action: tool.Change, Via: tool.Stored, Query: "q"}
	for _, tt := range []struct {
		actor string
		grant tool.Grant
		want  bool
		by    string // the rules of the explanation, and who is refused
	}{
		{"ada", read, true, "people-write"},
		{"ada", change, true, "people-write"},
		{"bot", read, false, ""},
		{"ada via bot", read, true, "people-write bots-help"},
		{"ada via bot", change, false, "not-through-bots; ada through bot"},
		{"ada via bot", stored, true, "people-write bots-help"},
		{"bot via ada", read, false, "; bot through ada"},
		{"ada via eve", read, false, "; eve as an agent"},
		{"ada via bot via eve", read, true, "people-write bots-help"},
	} {
		actor := access.Named(tt.actor, nil)
		for _, q := range []*Policy{p, alone} {
			if got := q.Allowed(actor, tt.grant); got != tt.want {
				t.Errorf("%s %+v: decided %v\n%s", tt.actor, tt.grant, got, q.CedarText())
			}
		}
		e := p.Explain(actor, tt.grant)
		var rules []string
		for _, rule := range e.Deciding {
			rules = append(rules, rule.ID)
		}
		by := strings.Join(rules, " ")
		if e.Refused != "" {
			by += "; " + e.Refused
		}
		if by != tt.by || e.Allowed != tt.want {
			t.Errorf("%s %+v: explained by %q, want %q", tt.actor, tt.grant, by, tt.by)
		}
	}
	all, err := Compile("policy.yaml", []byte(text), Options{Graph: "code", EarlierAgents: true})
	if err != nil {
		t.Fatal(err)
	}
	if all.Allowed(access.Named("ada via bot via eve", nil), read) {
		t.Error("an earlier agent without rights is not asked about")
	}
}

// TestChainGroups decides by the groups of tokens. Those of an agent must not count as those of its subject, and the other way round.
func TestChainGroups(t *testing.T) {
	const text = `version: 1
groups: { people: [], bots: [], careful: [] }
rules:
  - id: people-read
    allow: { actors: { group: people }, actions: [read] }
  - id: bots-help
    allow: { actors: { group: bots }, actions: [read], as: agent }
  - id: careful
    deny: { actors: any, actions: [read], through: { group: careful } }
`
	p, err := Compile("policy.yaml", []byte(text), Options{Graph: "code", TokenGroups: map[string]string{"P": "people", "B": "bots", "C": "careful"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		subject, agent []string
		want           bool
	}{
		{[]string{"P"}, []string{"B"}, true},
		{[]string{"P", "B"}, nil, false},
		{nil, []string{"P", "B"}, false},
		{[]string{"B"}, []string{"P"}, false},
		{[]string{"P"}, []string{"B", "C"}, false},
		{[]string{"P", "C"}, []string{"B"}, true},
	} {
		a := &access.Actor{ID: "ada", Groups: tt.subject, Agents: []access.Agent{{ID: "bot", Groups: tt.agent}}}
		if got := p.Allowed(a, tool.Grant{Action: tool.Read}); got != tt.want {
			t.Errorf("%v through %v: decided %v", tt.subject, tt.agent, got)
		}
		// An event of a proposal keeps the name and the groups of its actor.
		again := access.Named(a.Name(), access.GroupsOf(a))
		if got := p.decide(again, tool.Grant{Action: tool.Read}); got != tt.want {
			t.Errorf("%v through %v: decided %v after a detour", tt.subject, tt.agent, got)
		}
	}
}
