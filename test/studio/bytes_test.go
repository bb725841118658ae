package studio

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// bytesSite serves the graph files, whose nodes and edges have Blobs and one node has 140 neighbours. A proposal
// and main give one node other values.
func bytesSite(t *testing.T, content []byte) *site {
	t.Helper()
	dir := t.TempDir()
	text := base64.StdEncoding.EncodeToString(content)
	var lines strings.Builder
	lines.WriteString(`{"type":"File","data":{"name":"full","pages":1,"content":"` + text + `"}}` + "\n" +
		`{"type":"File","data":{"name":"empty","pages":1,"content":""}}` + "\n" + `{"type":"File","data":{"name":"none","pages":1}}` + "\n")
	for i := range 140 {
		name := "n" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		lines.WriteString(`{"type":"File","data":{"name":"` + name + `","pages":1}}` + "\n")
		if i%3 == 0 {
			lines.WriteString(`{"edge":"Cites","from":"` + name + `","to":"full"}` + "\n")
		} else if i%3 == 1 {
			lines.WriteString(`{"edge":"Cites","from":"full","to":"` + name + `","data":{"proof":"` + text + `"}}` + "\n")
		}
	}
	for name, text := range map[string]string{
		"files.pg":     "node File { name: String @key  pages: I32  level: enum(low, high)?  day: Date?  content: Blob? }\nedge Cites: File -> File { proof: Blob? }\n",
		"files.ndjson": lines.String(),
		"try.ndjson":   `{"type":"File","data":{"name":"none","pages":2,"content":"` + text + `","day":"2026-01-02"}}` + "\n",
		"main.ndjson":  `{"type":"File","data":{"name":"none","pages":3,"day":"2026-01-03"}}` + "\n",
		"policy.yaml":  "version: 1\nrules:\n  - id: everything\n    allow: { actors: { ids: [act-dev] }, actions: [read, change, branch_create, branch_merge] }\n",
		"cluster.yaml": "version: 1\nstorage: ./data\ngraphs:\n  files: { schema: files.pg }\npolicies:\n  p: { file: policy.yaml, applies_to: [files] }\nserver: { studio: true }\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	fill(t, dir, "files", filepath.Join(dir, "files.ndjson"))
	store := filepath.Join(dir, "data", "files")
	must(t, dir, command(t, "omnigraph"), "branch", "create", "try", "--store", store)
	for branch, file := range map[string]string{"try": "try.ndjson", "main": "main.ndjson"} {
		must(t, dir, command(t, "omnigraph"), "load", "--store", store, "--branch", branch, "--mode", "merge", "--data", filepath.Join(dir, file))
	}
	s := serve(t, command(t, "omnigraph-server"), dir, "files")
	var p struct{ ID string }
	s.ask(t, "act-dev", "POST", "/graphs/files/proposals", `{"source":"try","title":"Two pages"}`, &p)
	s.proposal = p.ID
	return s
}

// TestBytes looks at Blobs on the page of a node, of a commit and of a proposal, and downloads them.
func TestBytes(t *testing.T) {
	needBrowser(t)
	content := []byte(strings.Repeat("\x00\xff<b>bytes</b>", 400))
	encoded := base64.StdEncoding.EncodeToString(content)[:40]
	s := bytesSite(t, content)
	b := openTab(t)
	dir := t.TempDir()
	b.logIn(s, "act-dev", "/studio/files/entity/File?id=none")
	b.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	cell := func(name string) string {
		t.Helper()
		return eval[string](b, `[...document.querySelectorAll(".properties > div")].find(e => e.querySelector("dt").innerText.startsWith("`+name+`")).querySelector("dd").innerText`)
	}
	if got := cell("content"); got != "null" {
		t.Errorf("a Blob that is null is shown as %q", got)
	}
	b.open(s, "/studio/files/entity/File?id=empty")
	if got := cell("content"); !strings.HasPrefix(got, "0 bytes") {
		t.Errorf("an empty Blob is shown as %q", got)
	}
	b.open(s, "/studio/files/entity/File?id=full")
	if got := cell("content"); !strings.HasPrefix(got, "5,600 bytes") {
		t.Errorf("a Blob is shown as %q", got)
	}
	b.accessible()
	b.click(`button[aria-label="Download content"]`)
	b.downloaded(filepath.Join(dir, "full-content"), content)

	// The newest commit of try gives a Blob; the first commit of main makes edges with Blobs.
	commits := commitsOf(t, s, "try")
	for _, c := range []struct {
		page string
		want []string
	}{
		{"/studio/files/history/" + commits[0].ID + "?branch=try", []string{"content", "5,600 bytes"}},
		{"/studio/files/history/" + commits[len(commits)-2].ID, []string{"content", "5,600 bytes", "0 bytes"}},
		{"/studio/files/review/" + s.proposal, []string{"content", "5,600 bytes", "Conflicts"}},
	} {
		b.open(s, c.page)
		b.wantText(c.want...)
		if strings.Contains(b.text(), encoded) {
			t.Errorf("%s shows base64", c.page)
		}
		b.accessible()
	}
	b.open(s, "/studio/files/history/"+commits[0].ID+"?branch=try")
	b.click(`button[aria-label="Download content"]`)
	b.downloaded(filepath.Join(dir, "content"), content)
	b.quiet()
}

// downloaded waits for a file and checks its content.
func (b *tab) downloaded(name string, want []byte) {
	b.t.Helper()
	var got []byte
	for range 100 {
		if got, _ = os.ReadFile(name); len(got) > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !bytes.Equal(got, want) {
		b.t.Errorf("%s has %d bytes, want %d", name, len(got), len(want))
	}
}

// TestHub checks that the drawing of a node with many neighbours first shows the node.
func TestHub(t *testing.T) {
	needBrowser(t)
	s := bytesSite(t, []byte("x"))
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/files/entity/File?id=full")
	for _, width := range []int64{1280, 360} {
		b.resize(width, 800)
		b.open(s, "/studio/files/entity/File?id=full")
		place := eval[struct{ Nodes, Scrolls, X, Y, W, H float64 }](b, `(() => {
			const box = document.querySelector(".drawing"), outer = box.getBoundingClientRect(), main = box.querySelector(".main rect").getBoundingClientRect();
			return { Nodes: box.querySelectorAll(".node").length, Scrolls: box.scrollHeight - box.clientHeight,
				X: main.x + main.width / 2 - outer.x, Y: main.y + main.height / 2 - outer.y, W: outer.width, H: outer.height };
		})()`)
		if place.Nodes < 80 || place.Scrolls < 500 {
			t.Errorf("the drawing has %v nodes and scrolls by %v pixels; it is too small for this test", place.Nodes, place.Scrolls)
		}
		if place.X < 0 || place.X > place.W || place.Y < place.H/4 || place.Y > place.H*3/4 {
			t.Errorf("on a screen %d wide, the node is at %.0f, %.0f in a box of %.0f by %.0f", width, place.X, place.Y, place.W, place.H)
		}
	}
	b.shoot("hub")
	b.quiet()
}

// TestConflictFaults gives wrong values in the form of the conflicts. The page says so next to the button.
func TestConflictFaults(t *testing.T) {
	needBrowser(t)
	s := bytesSite(t, []byte("x"))
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/files/review/"+s.proposal)
	b.shows("Conflicts")
	b.settle()
	const form = `form[aria-label="Conflicts"]`
	fieldOf := func(property string) string {
		t.Helper()
		i := eval[int](b, `[...document.querySelectorAll(".conflict")].findIndex(e => e.querySelector("legend").innerText.endsWith("`+property+`"))`)
		if i < 0 {
			t.Fatalf("there is no conflict about %s:\n%s", property, b.text())
		}
		return `.conflict:nth-of-type(` + string(rune('1'+i)) + `)`
	}
	for _, c := range []struct{ property, value, want string }{
		{"pages", "cheap", "Nothing is stored, because this value is not valid: File none pages"},
		{"pages", "true", "Nothing is stored, because this value is not valid: File none pages"},
		{"pages", "99999999999", "File none pages: found the number 99999999999"}, // the server knows the range
		{"day", "tomorrow", "File none day: found the string"},
	} {
		b.open(s, "/studio/files/review/"+s.proposal)
		b.shows("Conflicts")
		b.settle()
		field := fieldOf(c.property)
		b.click(field + " input[value=value]")
		b.run(chromedp.SendKeys(field+" textarea", c.value, chromedp.ByQuery))
		b.click(form + " button[type=submit]")
		b.wait(`document.querySelector('` + form + ` .row [role=alert], ` + form + ` > [role=alert]') !== null`)
		got := eval[struct {
			Text     string
			Distance float64
			Seen     bool
		}](b, `(() => {
			const alert = document.querySelector('`+form+` .row [role=alert], `+form+` > [role=alert]'), button = document.querySelector('`+form+` button[type=submit]');
			const a = alert.getBoundingClientRect(), u = button.getBoundingClientRect();
			return { Text: alert.innerText, Distance: Math.max(a.top - u.bottom, u.top - a.bottom, 0), Seen: u.top >= 0 && u.bottom <= innerHeight };
		})()`)
		if !strings.Contains(got.Text, c.want) || got.Distance > 40 || !got.Seen {
			t.Errorf("%s %q: %+v", c.property, c.value, got)
		}
		b.accessible()
	}
	b.quiet()
}
