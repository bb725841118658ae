package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// draftEnds are the ways to end the draft of act-one, and the outcome of each.
var draftEnds = []struct {
	outcome string
	end     func(w *proposalWorld, draft string) error
}{
	{"deleted", func(w *proposalWorld, draft string) error {
		_, err := w.person("act-one").DeleteBranch(w.t.Context(), draft)
		return err
	}},
	{"merged", func(w *proposalWorld, draft string) error {
		_, err := w.person("act-root").MergeBranches(w.t.Context(), client.MergeBody{Source: draft, Target: "main"})
		return err
	}},
}

// write writes to a branch as act-one, and returns the branch and the commit.
func (w *proposalWorld) write(branch, name string, age int) (string, string) {
	w.t.Helper()
	a, err := w.person("act-one").Mutate(w.t.Context(), client.MutateBody{Query: aged(name, age), Branch: branch})
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Branch, a.Commit.GraphCommitID
}

// closedAs checks that an error says that a draft ended with an outcome.
func closedAs(t *testing.T, doing, outcome string, err error) {
	t.Helper()
	var status *client.Error
	if !errors.As(err, &status) || status.Status != 409 || status.DraftClosed == nil || status.DraftClosed.Outcome != outcome {
		t.Errorf("%s: found %v, want 409 with the outcome %s", doing, err, outcome)
	}
}

// TestDraftFeedPinned reads the change feed of an alias page by page. The feed stays on the draft that the alias
// stood for at the first page, also after the draft has ended and after the actor has opened another one.
func TestDraftFeedPinned(t *testing.T) {
	for _, tt := range draftEnds {
		t.Run(tt.outcome, func(t *testing.T) {
			w := newProposalWorldWith(t, strings.Replace(draftPolicy, "[read, invoke_query]", "[read, export, invoke_query]", 1), servedtest.Catalog(t))
			ctx, one := t.Context(), w.person("act-one")
			draft, first := w.write("", "ada", 41)
			var page *client.ChangeFeed
			for p, err := range one.FeedPages(ctx, client.FeedQuery{Branch: "draft", Limit: 1}) {
				if err != nil {
					t.Fatal(err)
				}
				page = p
			}
			if want := draft + "@" + first; *page.Cursor != want {
				t.Fatalf("the cursor is %s, want %s", *page.Cursor, want)
			}
			whole, err := one.ChangeFeed(ctx, client.FeedQuery{Branch: draft, Cursor: first})
			if err != nil || *whole.Cursor != first || !whole.CaughtUp {
				t.Errorf("by its own name, the draft has the cursor %+v, %v", whole, err)
			}
			early, err := one.ChangeFeed(ctx, client.FeedQuery{Branch: "draft", Limit: 1})
			if err != nil || early.CaughtUp {
				t.Fatalf("the first page: %+v, %v", early, err)
			}
			baseline, err := one.Baseline(ctx, client.BaselineBody{Branch: "draft"})
			if err != nil {
				t.Fatal(err)
			}
			resume := resumeCursor(t, baseline)
			if err := tt.end(w, draft); err != nil {
				t.Fatal(err)
			}
			follow := func(cursor string) error {
				_, err := one.ChangeFeed(ctx, client.FeedQuery{Branch: "draft", Cursor: cursor})
				return err
			}
			for i := range 2 {
				closedAs(t, "a cursor", tt.outcome, follow(*page.Cursor))
				closedAs(t, "a cursor among the commits of main", tt.outcome, func() error {
					_, err := one.ChangeFeed(ctx, client.FeedQuery{Branch: "draft", Cursor: orText(early.Cursor), PageToken: orText(early.NextPageToken)})
					return err
				}())
				closedAs(t, "a bare commit", tt.outcome, follow(first))
				closedAs(t, "the id of an event", tt.outcome, w.events("act-one", "branch=draft", "commit:"+*page.Cursor, nil))
				closedAs(t, "the id of an event with a bare commit", tt.outcome, w.events("act-one", "branch=draft", "commit:"+first, nil))
				closedAs(t, "a baseline", tt.outcome, follow(resume))
				if other, _ := w.write("draft", "bob", i+1); other == draft {
					t.Fatal("the draft is still open")
				}
			}
			// Another actor learns nothing about the draft.
			var status *client.Error
			if _, err := w.person("act-two").ChangeFeed(ctx, client.FeedQuery{Branch: "draft", Cursor: first}); tt.outcome == "deleted" && (!errors.As(err, &status) || status.Status != 404) {
				t.Errorf("another actor: %v", err)
			}
			if _, err := one.ChangeFeed(ctx, client.FeedQuery{Branch: "main", Cursor: *page.Cursor}); !errors.As(err, &status) || status.Status != 400 || !strings.Contains(status.Message, "it belongs to the branch "+draft) {
				t.Errorf("a cursor with another branch: %v", err)
			}
		})
	}
}

// TestDraftFeedOfMain reads the feed of an alias while the actor has no draft. The feed stays on main when the
// actor opens one.
func TestDraftFeedOfMain(t *testing.T) {
	w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
	ctx, one := t.Context(), w.person("act-one")
	page, err := one.ChangeFeed(ctx, client.FeedQuery{Branch: "draft", Start: client.StartLatest})
	if err != nil || !strings.HasPrefix(*page.Cursor, "main@") {
		t.Fatalf("found %+v, %v", page, err)
	}
	commits, err := one.Commits(ctx, client.CommitQuery{Branch: "draft", Limit: 1})
	if err != nil || commits.NextPageToken == "" {
		t.Fatalf("found %+v, %v", commits, err)
	}
	const people = "query q() { match { $p: Person } return { $p.name as name } order { $p.name } }"
	rows, err := one.Query(ctx, client.QueryBody{Query: people, Branch: "draft", MaxRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, written := w.write("", "ada", 41)
	page, err = one.ChangeFeed(ctx, client.FeedQuery{Branch: "draft", Cursor: *page.Cursor})
	if err != nil || len(page.Blocks) > 0 || !strings.HasPrefix(*page.Cursor, "main@") {
		t.Errorf("after the first write, the feed has %+v, %v", page, err)
	}
	if commits, err = one.Commits(ctx, client.CommitQuery{Branch: "draft", Limit: 9, PageToken: commits.NextPageToken}); err != nil || len(commits.Commits) == 0 || commits.Commits[0].GraphCommitID == written {
		t.Errorf("the next page of commits is %+v, %v", commits, err)
	}
	if rows, err = one.Query(ctx, client.QueryBody{Query: people, Branch: "draft", MaxRows: 1, PageToken: rows.NextPageToken}); err != nil || *rows.Target.Branch != "main" {
		t.Errorf("the next page of rows is %+v, %v", rows, err)
	}
}

// TestDraftStreamPinned follows an alias as a stream. The stream follows the draft, and ends with it.
func TestDraftStreamPinned(t *testing.T) {
	for _, tt := range draftEnds {
		t.Run(tt.outcome, func(t *testing.T) {
			w := newProposalWorldWith(t, draftPolicy, servedtest.Catalog(t))
			draft, first := w.write("", "ada", 41)
			var cursors []string
			err := w.events("act-one", "branch=draft&start=latest", "", func(page *client.ChangeFeed) error {
				cursors = append(cursors, *page.Cursor)
				switch len(cursors) {
				case 1:
					_, second := w.write("draft", "ada", 42)
					first = second
				case 2:
					if len(page.Blocks) != 1 || *page.Cursor != draft+"@"+first {
						t.Errorf("a write makes the page %+v", page)
					}
					if err := tt.end(w, draft); err != nil {
						return err
					}
					w.write("draft", "bob", 1)
				default:
					t.Errorf("after the end of the draft, the stream has %+v", page)
				}
				return nil
			})
			closedAs(t, "the stream", tt.outcome, err)
			if len(cursors) != 2 {
				t.Errorf("the stream has the cursors %q", cursors)
			}
		})
	}
}

// events reads the change feed as a stream of events. It calls `each` with each page. The error is that of
// `each`, that of the request, or the fault that ended the stream.
func (w *proposalWorld) events(actor, query, lastEvent string, each func(*client.ChangeFeed) error) error {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", w.url+"/graphs/people/changes?"+query, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer the-token-of-"+actor)
	r.Header.Set("Accept", "text/event-stream")
	if lastEvent != "" {
		r.Header.Set("Last-Event-ID", lastEvent)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	fault := func(body []byte) error {
		e := &client.Error{Status: resp.StatusCode}
		if err := json.Unmarshal(body, e); err != nil {
			return err
		}
		if e.Status == http.StatusOK {
			e.Status = http.StatusConflict // a fault in a stream has no status
		}
		return e
	}
	if resp.StatusCode != http.StatusOK {
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		return fault(b)
	}
	event := ""
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "event":
			event = value
		case name != "data":
		case event == client.FeedFault:
			return fault([]byte(value))
		case event == client.FeedChanges && each != nil:
			page := &client.ChangeFeed{}
			if err := json.Unmarshal([]byte(value), page); err != nil {
				return err
			}
			if err := each(page); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// resumeCursor returns the cursor at the end of a baseline.
func resumeCursor(t *testing.T, s *client.Stream) string {
	t.Helper()
	defer s.Close()
	b, err := io.ReadAll(s)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	var last client.BaselineLine
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	return last.Baseline.ResumeCursor
}

// orText returns a text, or "" for nil.
func orText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
