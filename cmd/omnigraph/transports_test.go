package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// transportsPolicy has rules for eight actors. No rule names act-nothing; the test itself uses
// act-all. The policy is written in Cedar, because the two actors that may read only some of the
// branches differ in the names of those branches.
const transportsPolicy = `@id("admin")
permit (principal, action, resource)
when { [Actor::"act-admin", Actor::"act-all"].contains(principal) };

@id("reader")
permit (principal == Actor::"act-reader", action in [Action::"read", Action::"invoke_query"], resource);

@id("reader-of-one-branch")
permit (principal == Actor::"act-one", action == Action::"read", resource)
when { context.branch == "feature-x" };

@id("reader-of-all-but-one")
permit (principal == Actor::"act-most", action == Action::"read", resource)
when { context.branch != "secret-plan" };

@id("stored-queries")
permit (principal == Actor::"act-bot", action == Action::"invoke_query", resource)
when { [Query::"everyone", Query::"set_age", Query::"set_mail"].contains(resource) };

@id("and-what-they-do")
permit (principal == Actor::"act-bot", action in [Action::"read", Action::"change"], resource)
when { context.via == "stored" };

@id("writer")
permit (principal == Actor::"act-writer", action == Action::"change", resource);

@id("keeper")
permit (principal == Actor::"act-keeper", action in [Action::"branch_create", Action::"branch_delete", Action::"branch_merge"], resource);
`

var transportsActors = strings.Fields(anyone)

// Sets of actors.
const (
	exporters = "act-admin"
	readers   = "act-admin act-reader"                  // may read every branch
	invokers  = "act-admin act-reader act-bot"          // may invoke the query everyone
	ofSome    = "act-admin act-reader act-one act-most" // may read at least one branch
	anyone    = "act-admin act-reader act-one act-most act-bot act-writer act-keeper act-nothing"
)

// readersOf maps each branch to the actors that may read it.
var readersOf = map[string]string{"main": "act-admin act-reader act-most", "secret-plan": readers, "feature-x": ofSome, "draft": "act-admin act-reader act-most"}

func in(set, actor string) bool { return slices.Contains(strings.Fields(set), actor) }

// fact is a piece of information that an answer can reveal.
type fact struct {
	name   string
	marker string // the text that reveals it
	who    string // the actors that may know it
}

// facts lists every fact.
func (w *accessWorld) facts() []fact {
	all := []fact{
		// The contracts of the bot's queries name types.
		{"types", "Mensch", ofSome + " act-bot"}, {"edges", "Zettel", ofSome}, {"property", "lefthand", ofSome},
		{"everyone", "everyone", invokers}, {"payroll", "payroll", readers},
	}
	for _, b := range append(slices.Clone(accessBranches), accessDraft) {
		who := readersOf[b.name]
		if b.name != "main" { // every actor knows the name main
			all = append(all, fact{"name of " + b.name, w.named(b.name), who})
		}
		// The answer of a stored query shows the bot the columns and the commit that was read.
		all = append(all, fact{"author of " + b.name, b.author, who},
			fact{"head of " + b.name, w.heads[b.name], who + " act-bot"}, fact{"person of " + b.name, b.person, who + " act-bot"})
	}
	return all
}

// question is one kind of information, with the asks that request it through every transport that
// offers it. Each actor must get the same information through every transport.
type question struct {
	name     string
	open     string   // the actors that get an answer; "" means the readers of the branch
	branched bool     // ask about every branch; otherwise only about main
	tells    []string // the facts; {B} stands for the branch
	asks     []transportAsk
}

// transportAsk is one way to ask a question. If `only` is set, the answer to this ask can contain
// no facts of the question except those in `only`.
type transportAsk struct {
	ask
	only []string
}

// TestTransportsAgree asks every question through every transport as eight actors. An answer must
// reveal every fact of the question that the actor may know. It must not reveal any fact that the
// actor must not know.
func TestTransportsAgree(t *testing.T) {
	known := map[string]bool{}
	for mode, graph := range map[string]string{"a tool for each query": "", "two tools for all": ", mcp: { meta_threshold: 1 }"} {
		t.Run(mode, func(t *testing.T) {
			w := newAccessWorld(t, "policy.cedar", transportsPolicy, graph, append(transportsActors, "act-all")...)
			for name := range w.everything() {
				known[name] = true
			}
			facts, told := w.facts(), 0
			for _, d := range allTransports() {
				told += w.questions(d, facts, graph != "")
			}
			if graph == "" && told < 500 {
				t.Errorf("all answers together reveal %d facts, which is too few to show anything", told)
			}
		})
	}
	covered := map[string]bool{}
	for _, q := range questions {
		for _, a := range q.asks {
			covered[a.ask.name()] = true
		}
	}
	for _, m := range moves {
		if m.writes {
			covered[m.name()] = true
		}
	}
	for name := range known {
		if _, exempt := silent[name]; !covered[name] && !exempt {
			t.Errorf("%s is not in a question, not in silent, and does not write according to the table of moves; add it to a question, with the facts that it reveals and to whom", name)
		}
	}
	for name := range silent {
		if !known[name] || covered[name] {
			t.Errorf("%s is in silent: it exists: %t, a question asks it: %t", name, known[name], covered[name])
		}
	}
}

// asked is a question about one branch, as a request for one transport.
type asked struct {
	*question
	ask
	branch string
	tells  []string // the facts, with placeholders replaced
}

// questions asks all questions through a transport as every actor, and returns how many facts the
// answers revealed. If two tools run all stored queries, it asks only the questions about those
// tools.
func (w *accessWorld) questions(d transport, facts []fact, meta bool) (told int) {
	w.t.Helper()
	var list []asked
	for i := range questions {
		q := &questions[i]
		branches := accessBranches[:1]
		if q.branched {
			branches = accessBranches
		}
		for _, b := range branches {
			for _, each := range q.asks {
				if !slices.Contains(each.transports(), d) || strings.HasPrefix(each.tool, "stored_query_") != meta {
					continue
				}
				a := asked{question: q, ask: w.forBranch(each.ask, b.name), branch: b.name}
				for _, name := range q.tells {
					if each.only == nil || slices.Contains(each.only, name) {
						a.tells = append(a.tells, strings.ReplaceAll(name, "{B}", b.name))
					}
				}
				list = append(list, a)
			}
		}
	}
	asks := make([]ask, len(list))
	for i := range list {
		asks[i] = list[i].ask
	}
	for _, actor := range transportsActors {
		for i, s := range w.sendAll(actor, d, asks) {
			told += list[i].check(w.t, d, actor, s, facts)
		}
	}
	return told
}

// check compares the facts that an answer reveals to an actor with the facts of the row. It returns
// how many facts the answer reveals.
func (a *asked) check(t *testing.T, d transport, actor string, s said, facts []fact) (told int) {
	t.Helper()
	set := a.open
	if set == "" {
		set = readersOf[a.branch]
	}
	open := in(set, actor)
	for _, f := range facts {
		if strings.Contains(s.asked, f.marker) {
			continue // the caller knows this fact already
		}
		got, may := strings.Contains(s.text, f.marker), open && in(f.who, actor)
		switch want := may && slices.Contains(a.tells, f.name); {
		case got && !may, want && !got:
			t.Errorf("%s (%s) over %s: %s learns the %s: %t, want %t\n%s\n%s", a.question.name, a.ask.name(), d, actor, f.name, got, want, s.asked, clipped(s.text))
		case got:
			told++
		}
	}
	return told
}

func clipped(s string) string { return fmt.Sprintf("%.600s", s) }
