package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// draftAccessPolicy lets every actor read main, and use its own drafts. act-all may do everything.
const draftAccessPolicy = `@id("all")
permit (principal == Actor::"act-all", action, resource);

@id("queries")
permit (principal, action == Action::"invoke_query", resource);

@id("main")
permit (principal, action == Action::"read", resource)
when { context.branch == "main" };

@id("own-drafts")
permit (principal, action, resource)
when { context has own_draft && context.own_draft };
`

// The ids of a draft and of a commit that do not exist.
const (
	unknownDraft  = "draft/01ARZ3NDEKTSV4RRFFQ69G5FAV"
	unknownCommit = "01ARZ3NDEKTSV4RRFFQ69G5FAW"
)

// passing matches parts of an answer that differ from call to call.
var passing = regexp.MustCompile(`Date: [^\r\n]*`)

// TestDraftAccess sends each request of the table of moves about a draft of act-own. act-peer, which may
// read main alone, must get the same answer as about a draft, or a commit, that does not exist. act-own
// must be served.
func TestDraftAccess(t *testing.T) {
	w := newAccessWorld(t, "policy.cedar", draftAccessPolicy, "", "act-all", "act-own", "act-peer")
	head := w.heads[accessDraft.name]
	// replaced returns an ask or an answer about another draft and commit.
	replaced := func(text, draft, commit string) string {
		return strings.NewReplacer(w.draft, draft, head, commit).Replace(text)
	}
	same, served := 0, 0
	for _, d := range allTransports() {
		var about, unknown, own []ask
		for i := range moves {
			m := &moves[i]
			fields := m.path + m.body + m.args + m.resource + strings.Join(m.more, " ")
			if !strings.Contains(fields, "{B}") && !strings.Contains(fields, "{H}") && !strings.Contains(fields, "{+name}") ||
				strings.Contains(fields, "{M}") || strings.HasPrefix(m.tool, "stored_query_") || !slices.Contains(m.transports(), d) {
				continue
			}
			a := w.forBranch(m.ask, accessDraft.name)
			about = append(about, a)
			if !m.faulty && !in(m.reads, "main") && !in(m.reads, "secret-plan") && !strings.Contains(fields, "{N}") {
				own = append(own, a)
			}
			u := a
			for _, field := range []*string{&u.path, &u.body, &u.args, &u.resource} {
				*field = replaced(*field, unknownDraft, unknownCommit)
			}
			u.more = make([]string, len(a.more))
			for i := range a.more {
				u.more[i] = replaced(a.more[i], unknownDraft, unknownCommit)
			}
			unknown = append(unknown, u)
		}
		unknowns := w.sendAll("act-peer", d, unknown)
		for i, s := range w.sendAll("act-peer", d, about) {
			got, want := passing.ReplaceAllString(replaced(s.text, unknownDraft, unknownCommit), ""), passing.ReplaceAllString(unknowns[i].text, "")
			if got != want || s.status != unknowns[i].status {
				t.Errorf("%s over %s: a draft of another actor answers %d\n%s\nan unknown one %d\n%s\n%s", about[i].name(), d, s.status, clipped(got), unknowns[i].status, clipped(want), s.asked)
			}
			if s.refused() || strings.Contains(s.text, "does not allow") {
				same++
			} else if strings.Contains(s.text, accessDraft.person) && !strings.Contains(s.asked, accessDraft.person) {
				t.Errorf("%s over %s: another actor reads the draft: %s", about[i].name(), d, clipped(s.text))
			}
		}
		for i, s := range w.sendAll("act-own", d, own) {
			if s.fault {
				t.Errorf("%s over %s: the owner of the draft gets %s\n%s", own[i].name(), d, clipped(s.text), s.asked)
			} else {
				served++
			}
		}
	}
	if same < 100 || served < 60 {
		t.Errorf("act-peer was refused %d times and act-own was served %d times, which is too few to show anything", same, served)
	}
}
