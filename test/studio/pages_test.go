package studio

import (
	"net/url"
	"strings"
	"testing"
)

// page is a page of the studio, and the texts that it must show.
type page struct {
	name, path string
	want       []string
}

// TestPages opens every page on both graphs. It does so as an actor with all permissions and as an
// actor with few, in light and in dark colours, and on a wide and on a narrow screen.
func TestPages(t *testing.T) {
	needBrowser(t)
	code, brain := codeSite(t), brainSite(t)
	node := "/studio/code/entity/Symbol?id=" + url.QueryEscape(symbol)
	head := headOf(t, code)
	denied := []string{"Not allowed", "the policy does not allow read on branch main"}
	for _, c := range []struct {
		name  string
		site  *site
		actor string
		pages []page
	}{
		{"code-all", code, "act-dev", []page{
			{"graphs", "/studio/", []string{"Graphs", "code"}},
			{"review", "/studio/code/review", []string{"Correct a note", "act-dev"}},
			{"proposal", "/studio/code/review/" + code.proposal, []string{"Correct a note", "Read me twice", "See https://example.com/why", "Nothing blocks the merge.", "Merge into main"}},
			{"run", "/studio/code/run", []string{"heaviest_packages", "add_note"}},
			{"query", "/studio/code/run/heaviest_packages?p.limit=5&run=1", []string{"5 rows", "github.com/omnigraph-go/omnigraph/client", "The default is 25."}},
			{"mutation", "/studio/code/run/add_note", []string{"Try without writing", "slug"}},
			{"search", "/studio/code/entity/Symbol?q=invoke", []string{"client.Graph.Invoke"}},
			{"entity", node, []string{"Neighbours", "History", "signature", "insert", "Calls from Symbol"}},
			{"schema", "/studio/code/schema", []string{"Node types", "Symbol", "Calls"}},
			{"type", "/studio/code/schema/node/Symbol", []string{"enum(func, method, type, interface, const, var)", "find_symbols", "@index(name)"}},
			{"history", "/studio/code/history", []string{"Compare with", "act-dev"}},
			{"compare", "/studio/code/history?branch=review&compare=main", []string{"The branches part at the commit", "Only on review", "Only on main"}},
			{"commit", "/studio/code/history/" + head, []string{"insert", "first", "See https://example.com/why"}},
			{"access", "/studio/code/access", []string{"act-grace"}},
			{"explained", "/studio/code/access?actor=act-ada", []string{"rule readers-read (policy.yaml:", "change", "rule readers-try-things-on-branches (policy.yaml:20) would, but requires when { !context.protected }", "graph_mutate"}},
		}},
		{"code-little", code, "act-ada", []page{
			{"graphs", "/studio/", []string{"You may not list the graphs"}},
			{"review", "/studio/code/review?state=any&author=act-bot", []string{"No proposal matches the filters."}},
			{"proposal", "/studio/code/review/" + code.proposal, []string{"Read me twice", "Decision"}},
			{"run", "/studio/code/run", []string{"heaviest_packages"}},
			{"entity", node, []string{"Neighbours", "signature"}},
			{"schema", "/studio/code/schema", []string{"Symbol"}},
			{"history", "/studio/code/history", []string{"act-dev"}},
			{"access", "/studio/code/access?actor=act-dev", []string{"Not allowed", "the policy does not allow policy_read"}},
		}},
		{"brain-all", brain, "act-ada", []page{
			{"review", "/studio/brain/review", []string{"There are no open proposals."}},
			{"run", "/studio/brain/run", []string{"find_documents"}},
			{"query", "/studio/brain/run/find_documents?p.words=price&run=1", []string{"pricing-study"}},
			{"search", "/studio/brain/entity/Decision", []string{"price-by-invoice", "Charge by the invoice"}},
			{"entity", "/studio/brain/entity/Decision?id=price-by-invoice", []string{"Customers can plan it", "RestsOn to Document", "pricing-study"}},
			{"schema", "/studio/brain/schema", []string{"Someone of the team.", "RestsOn"}},
			{"type", "/studio/brain/schema/edge/Replaces", []string{"@unique(src, dst)"}},
			{"history", "/studio/brain/history", []string{"There is no other branch"}},
			{"explained", "/studio/brain/access?actor=act-bot", []string{"rule bots-call-two-queries", "find_documents", "no rule allows it"}},
		}},
		{"brain-little", brain, "act-bot", []page{
			{"review", "/studio/brain/review", denied},
			{"proposal", "/studio/brain/review/01M7", []string{"Not found"}},
			{"run", "/studio/brain/run", append([]string{"Name of a stored query"}, denied...)},
			{"query", "/studio/brain/run/find_documents?p.words=price&run=1", []string{"pricing-study"}},
			{"hidden", "/studio/brain/run/why", []string{"Not found"}},
			{"entity", "/studio/brain/entity/Decision?id=price-by-invoice", denied},
			{"schema", "/studio/brain/schema", denied},
			{"history", "/studio/brain/history", denied},
			{"access", "/studio/brain/access?actor=act-ada", []string{"the policy does not allow policy_read"}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := openTab(t)
			b.logIn(c.site, c.actor, "/studio/")
			for _, p := range c.pages {
				t.Run(p.name, func(t *testing.T) {
					outer := b.t
					b.t = t
					defer func() { b.t = outer }()
					for _, colours := range []string{"light", "dark"} {
						b.scheme(colours)
						b.resize(1280, 900)
						b.open(c.site, p.path)
						b.wantText(p.want...)
						b.accessible()
						b.fits(1280)
						b.colours(colours)
						b.shoot(c.name + "-" + p.name + "-" + colours)
					}
					b.marked()
					b.resize(360, 800)
					b.fits(360)
					b.shoot(c.name + "-" + p.name + "-narrow")
					b.quiet()
				})
			}
		})
	}
}

// headOf returns the head of main.
func headOf(t *testing.T, s *site) string {
	t.Helper()
	return commitsOf(t, s, "main")[0].ID
}

type commit struct {
	ID string `json:"graph_commit_id"`
}

// commitsOf returns the newest 50 commits of a branch.
func commitsOf(t *testing.T, s *site, branch string) []commit {
	t.Helper()
	var list struct{ Commits []commit }
	s.get(t, "act-dev", "/graphs/"+s.graph+"/commits?limit=50&branch="+url.QueryEscape(branch), &list)
	return list.Commits
}

// fits fails the test if the page is wider than the screen, or if a visible element lies outside
// the page. Wide tables and drawings may scroll, each in a box of its own.
func (b *tab) fits(width int) {
	b.t.Helper()
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > width {
		b.t.Errorf("%s is %d pixels wide on a screen of %d", eval[string](b, "location.pathname+location.search"), wide, width)
	}
	outside := eval[[]string](b, `[...document.querySelectorAll("main *, header *")].filter(e => {
		const r = e.getBoundingClientRect();
		return r.width > 0 && !e.closest(".scroll, .skip, pre, nav") && (r.right > innerWidth + 1 || r.left < -1);
	}).map(e => e.outerHTML.slice(0, 100))`)
	if len(outside) > 0 {
		b.t.Errorf("%s: elements outside of the screen: %s", eval[string](b, "location.pathname+location.search"), strings.Join(outside[:min(3, len(outside))], "\n"))
	}
}

// colours fails the test unless the style sheet is in use, with the colours of the scheme.
func (b *tab) colours(scheme string) {
	b.t.Helper()
	want := map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 29)"}[scheme]
	if got := eval[string](b, "getComputedStyle(document.body).backgroundColor"); got != want {
		b.t.Errorf("the ground is %s, want %s", got, want)
	}
	if got := eval[string](b, "getComputedStyle(document.querySelector('header')).display"); got != "flex" {
		b.t.Errorf("the header has display %s, want flex", got)
	}
}
