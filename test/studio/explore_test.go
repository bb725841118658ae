package studio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// cy is the JavaScript expression of the Cytoscape instance, which Cytoscape keeps at its container.
const cy = `document.querySelector(".canvas")._cyreg.cy`

// rest waits until the canvas has placed all nodes of the scene.
func (b *tab) rest() {
	b.t.Helper()
	b.wait(`document.querySelector(".explore")?.dataset.rested !== undefined`)
}

// says waits until the line above the canvas has a text, and the canvas rests.
func (b *tab) says(text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(".scene-state")?.innerText.includes(%q)`, text))
	b.rest()
}

// press clicks the first button that begins with a text.
func (b *tab) press(text string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll("main button")].find(e => e.innerText.trim().startsWith(%q) && !e.disabled)`, text)
	b.wait(find + " !== undefined")
	b.run(chromedp.Evaluate(find+".click()", nil))
}

// choose presses the button of a node in the table of nodes.
func (b *tab) choose(label string) {
	b.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(".scene-tables section:first-child td button")].find(e => e.innerText === %q)`, label)
	b.wait(find + " !== undefined")
	b.run(chromedp.Evaluate(find+".click()", nil))
	b.wait(fmt.Sprintf(`document.querySelector(".details h2")?.innerText === %q && document.querySelector(".ways, .details .empty") !== null`, label))
}

// drawn returns the labels of the nodes on the canvas.
func (b *tab) drawn() []string {
	b.t.Helper()
	labels := eval[[]string](b, cy+`.nodes().map(n => n.data("label"))`)
	slices.Sort(labels)
	return labels
}

// sameFacts fails the test unless the tables have the nodes and edges of the canvas.
func (b *tab) sameFacts() {
	b.t.Helper()
	for _, c := range []struct{ what, canvas, table string }{
		{"nodes", cy + `.nodes().map(n => n.id().replace("\n", " ")).sort().join("|")`, `[...document.querySelectorAll(".scene-tables section:first-child tbody tr")].map(r => r.children[1].innerText + " " + new URL(r.lastElementChild.querySelector("a").href).searchParams.get("id")).sort().join("|")`},
		{"edges", cy + `.edges().map(e => e.source().data("label") + " " + e.data("label") + " " + e.target().data("label")).sort().join("|")`, `[...document.querySelectorAll(".scene-tables section:last-child tbody tr")].map(r => r.children[0].innerText + " " + r.children[1].innerText + " " + r.children[2].innerText).sort().join("|")`},
	} {
		for range 4 { // each press shows twice as many rows
			b.run(chromedp.Evaluate(`[...document.querySelectorAll(".scene-tables button")].filter(e => e.innerText.startsWith("Show more")).forEach(e => e.click())`, nil))
		}
		if canvas, table := eval[string](b, c.canvas), eval[string](b, c.table); canvas != table || canvas == "" {
			b.t.Errorf("the canvas has the %s\n%s\nand the table\n%s", c.what, canvas, table)
		}
	}
}

// TestExplore goes from a search to a scene, and changes it in each way that the page has.
func TestExplore(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-dev", "/studio/code/explore")
	b.wantText("Nothing is on the canvas yet.", "Symbol")
	b.looks("explore-empty")

	// A search gives the first node, which is in view.
	b.run(chromedp.SendKeys("input[name=q]", symbol+kb.Enter, chromedp.ByQuery))
	b.press(symbol)
	b.says("1 node and 0 edges. Added 1 node.")
	b.press("Close the results")
	if got := b.drawn(); !slices.Equal(got, []string{"Invoke"}) {
		t.Fatalf("the canvas has %q", got)
	}

	// It is expanded along one type of edges, with the number that the server counts.
	var calls struct{ Rows []struct{ N int } }
	s.ask(t, "act-dev", "POST", "/graphs/code/query", `{"query":"query q($id: String) { match { $a: Symbol $b: Symbol $a.id = $id $a $e:calls $b } return { count($e.id) as n } limit 1 }","params":{"id":"`+symbol+`"}}`, &calls)
	n := calls.Rows[0].N
	b.choose("Invoke")
	b.wantText(fmt.Sprintf("0 of %d shown", n))
	b.press("→ Calls to Symbol")
	b.says(fmt.Sprintf("Added %d nodes.", n))
	b.wantText(fmt.Sprintf("all %d are shown", n))
	if far := eval[float64](b, cy+`.nodes().map(n => Math.hypot(n.position("x") - `+cy+`.nodes("[?main]").position("x"), n.position("y") - `+cy+`.nodes("[?main]").position("y"))).sort((a, b) => b - a)[0]`); far > 500 || far < 40 {
		t.Errorf("a new node is %.0f pixels from the expanded one", far)
	}
	b.inView()
	b.sameFacts()
	first := b.drawn()

	// A double click adds neighbours of all kinds. Those that stood there hardly move.
	before := eval[map[string]map[string]float64](b, cy+`.nodes().reduce((all, n) => ({...all, [n.id()]: n.position()}), {})`)
	b.run(chromedp.Evaluate(cy+`.nodes("[?main]").emit("dbltap"); 0`, nil))
	b.wait(cy + fmt.Sprintf(".nodes().length > %d", len(first)))
	b.rest()
	for id, at := range eval[map[string]map[string]float64](b, cy+`.nodes().reduce((all, n) => ({...all, [n.id()]: n.position()}), {})`) {
		if was, ok := before[id]; ok && abs(was["x"]-at["x"])+abs(was["y"]-at["y"]) > 300 {
			t.Errorf("%s moved from %v to %v", id, was, at)
		}
	}
	b.sameFacts()
	b.looks("explore")
	many := len(b.drawn())

	// Undo and redo.
	b.press("Undo")
	b.wait(cy + fmt.Sprintf(".nodes().length === %d", len(first)))
	b.press("Redo")
	b.wait(cy + fmt.Sprintf(".nodes().length === %d", many))

	// A type can be hidden, and collapsing removes what hangs on a node.
	b.run(chromedp.Evaluate(`[...document.querySelectorAll(".legend label")].find(e => e.innerText.includes("Calls")).querySelector("input").click()`, nil))
	b.wait(cy + `.edges().filter(e => e.data("label") === "Calls").length === 0`)
	b.sameFacts()
	b.press("Undo")
	b.wait(cy + `.edges().filter(e => e.data("label") === "Calls").length > 0`)
	b.press("Collapse")
	b.says("that only this one led to")
	if got := len(b.drawn()); got >= many {
		t.Errorf("collapsing left %d of %d nodes", got, many)
	}
	b.press("Undo")
	b.wait(cy + fmt.Sprintf(".nodes().length === %d", many))

	// Colours and sizes follow properties, and the legend says how.
	b.pick("colour", "kind")
	b.wait(`[...document.querySelectorAll(".legend li")].some(e => e.innerText.startsWith("method"))`)
	if n := eval[int](b, `new Set(`+cy+`.nodes().map(n => n.style("background-color"))).size`); n < 2 {
		t.Errorf("all nodes have one colour")
	}
	want := eval[string](b, `getComputedStyle([...document.querySelectorAll(".legend li")].find(e => e.innerText.startsWith("method")).querySelector(".swatch")).backgroundColor`)
	if got := eval[string](b, cy+`.nodes("[?main]").style("background-color")`); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("a method has the colour %s, and the legend says %s", got, want)
	}
	b.pick("size", "#edges")
	b.wait(`new Set(` + cy + `.nodes().map(n => n.data("size"))).size > 2`)
	b.looks("explore-coloured")

	// Dragging a node pins it where it is dropped.
	place := eval[map[string]float64](b, `(([r, p]) => ({x: r.left + p.x, y: r.top + p.y}))([(document.querySelector(".canvas").scrollIntoView({block: "center"}), document.querySelector(".canvas").getBoundingClientRect()), `+cy+`.nodes("[?main]").renderedPosition()])`)
	b.drag(place["x"], place["y"], 60, 40)
	b.wait(cy + `.nodes("[?pin]").length === 1`)
	pinned := eval[string](b, cy+`.nodes("[?pin]").map(n => n.id() + Math.round(n.position("x")) + " " + Math.round(n.position("y"))).join()`)
	b.wantText("what it is about, pinned")

	// The link leads to the same scene, with the same colours and pins.
	b.wait(`location.search.includes("scene=")`)
	link, labels := eval[string](b, "location.pathname + location.search"), b.drawn()
	for range 100 { // the address follows the scene after a moment
		if next := eval[string](b, "location.pathname + location.search"); next == link {
			time.Sleep(20 * time.Millisecond)
		} else {
			link = next
		}
	}
	b.open(s, link)
	b.rest()
	if got := b.drawn(); !slices.Equal(got, labels) {
		t.Errorf("the link leads to %q, want %q", got, labels)
	}
	if got := eval[string](b, cy+`.nodes("[?pin]").map(n => n.id() + Math.round(n.position("x")) + " " + Math.round(n.position("y"))).join()`); got != pinned {
		t.Errorf("the link pins %q, want %q", got, pinned)
	}
	if got := eval[string](b, `document.querySelector("select[name=colour]").value`); got != "kind" {
		t.Errorf("the link colours by %q", got)
	}

	// A search within the scene marks nodes.
	b.run(chromedp.SendKeys(`input[aria-label="Find in the scene"]`, "invoke"+kb.Enter, chromedp.ByQuery))
	b.says("in the scene ha")
	if n := eval[int](b, cy+`.nodes(".marked").length`); n == 0 {
		t.Error("no node is marked")
	}

	// The picture shows the scene.
	dir := t.TempDir()
	b.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	b.press("Save as PNG")
	b.picture(filepath.Join(dir, "scene.png"))
	b.quiet()
}

// TestExplorePaths finds the paths between two nodes, by the keyboard.
func TestExplorePaths(t *testing.T) {
	needBrowser(t)
	s := shapesSite(t)
	b := openTab(t)
	b.logIn(s, "act-all", "/studio/shapes/explore")
	b.open(s, "/studio/shapes/explore?scene="+sceneOf(b, "Item", "chain-00", "chain-04"))
	b.says("2 nodes and 0 edges")
	b.tabTo(".scene-tables td button")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.wait(`document.activeElement.closest(".details") !== null`) // the panel of the node
	b.tabTo(".details .row button:nth-child(4)")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.wantText("A path begins at")
	b.tabTo(".scene-tables tr:nth-child(2) td button")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.wait(`document.querySelector(".details h2").innerText === "chain-04"`)
	b.tabTo(".details .row button:nth-child(4)")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.says("1 path with 4 edges.")
	if got, want := b.drawn(), []string{"chain-00", "chain-01", "chain-02", "chain-03", "chain-04"}; !slices.Equal(got, want) {
		t.Errorf("the path has %q, want %q", got, want)
	}
	if n := eval[int](b, cy+`.edges(".marked").length`); n != 4 {
		t.Errorf("%d edges are marked, want 4", n)
	}

	// Two ends without a path.
	b.open(s, "/studio/shapes/explore?scene="+sceneOf(b, "Item", "chain-00", "clique-00"))
	b.says("2 nodes")
	b.choose("chain-00")
	b.press("Start of a path")
	b.choose("clique-00")
	b.press("Find paths from")
	b.says("No path")
	b.quiet()
}

// TestExploreFrom opens Explore from an entity and from an answer.
func TestExploreFrom(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.logIn(s, "act-ada", "/studio/code/entity/Symbol?id="+url.QueryEscape(symbol))
	b.run(chromedp.Click(`//a[normalize-space()="Open in Explore"]`, chromedp.BySearch))
	b.says("Added")
	if got := b.drawn(); !slices.Contains(got, "Invoke") || len(got) < 5 {
		t.Errorf("the canvas has %q", got)
	}
	b.inView()
	b.sameFacts()

	b.logIn(s, "act-dev", "/studio/code/query")
	b.write("query notes() { match { $n: Note $n about $s } return { $n, $s.id as symbol } }")
	b.wantText("This query reads.")
	b.run(chromedp.Click("form button[type=submit]", chromedp.ByQuery))
	b.wantText("1 row")
	b.press("Graph")
	b.press("Open in Explore")
	b.says("2 nodes and 1 edge")
	if got := b.drawn(); !slices.Equal(got, []string{"Invoke", "first"}) {
		t.Errorf("the canvas has %q", got)
	}
	b.quiet()
}

// TestExploreLittle opens scenes as actors who may see nothing or a part, and addresses that are no scenes.
func TestExploreLittle(t *testing.T) {
	needBrowser(t)
	s := shapesSite(t)
	b := openTab(t)
	b.logIn(s, "act-all", "/studio/shapes/explore")
	scene := sceneOf(b, "Item", "hub", "spoke-00", "spoke-01", "no such node")
	b.open(s, "/studio/shapes/explore?scene="+scene)
	b.says("3 nodes")
	b.wantText("1 node of the scene does not exist here, or you may not see it.")

	// An actor with a filter sees neither nodes nor edges nor counts beyond it.
	b.logIn(s, "act-part", "/studio/shapes/explore?scene="+scene)
	b.says("2 nodes and 1 edge")
	b.wantText("2 nodes of the scene do not exist here, or you may not see them.")
	if got := b.drawn(); !slices.Equal(got, []string{"hub", "spoke-00"}) {
		t.Errorf("a part of the graph has %q", got)
	}
	b.choose("hub")
	b.wantText("the one edge is shown")
	b.looks("explore-part")

	b.logIn(s, "act-none", "/studio/shapes/explore?scene="+scene)
	b.wantText("Not allowed")
	if eval[bool](b, `document.querySelector(".canvas") !== null`) {
		t.Error("an actor without rights has a canvas")
	}
	b.accessible()

	b.logIn(s, "act-all", "/studio/shapes/explore?scene=broken")
	b.wantText("The address has no scene that can be read.", "Nothing is on the canvas yet.")
	b.open(s, "/studio/shapes/explore?scene="+eval[string](b, `(async () => {
		const packed = new Blob(["[".repeat(10_000_000)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
		return btoa(String.fromCharCode(...new Uint8Array(await new Response(packed).arrayBuffer()))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
	})()`))
	b.wantText("The address has no scene that can be read.")
	b.open(s, "/studio/shapes/explore?type=Nothing&id=x")
	b.wantText("1 node of the scene does not exist here")
	b.quiet()
}

// TestExploreOdd shows nodes and edges whose texts try to do harm.
func TestExploreOdd(t *testing.T) {
	needBrowser(t)
	s := shapesSite(t)
	b := openTab(t)
	b.logIn(s, "act-all", "/studio/shapes/explore")
	for _, id := range []string{harm, script, `"quoted" 'names' \ { } \u202e`, "עברית מימין לשמאל", longName} {
		b.resize(1280, 900)
		b.open(s, "/studio/shapes/explore?type=Odd&id="+url.QueryEscape(id))
		b.says("Added")
		b.rest()
		if got := eval[[]string](b, cy+`.nodes().map(n => n.id())`); !slices.Contains(got, "Odd\n"+id) {
			t.Errorf("the canvas has no %.80q but %.300q", id, got)
		}
		if raw := eval[bool](b, cy+`.nodes().some(n => /[\u200b-\u200f\u202a-\u202e]/.test(n.data("label")) || n.data("label").length > 60)`); raw {
			t.Errorf("a label of the canvas has an invisible character, or is long")
		}
		b.run(chromedp.Evaluate(`document.querySelector(".scene-tables td button").click()`, nil))
		b.wait(`document.querySelector(".details .ways") !== null`)
		b.marked()
		b.inert()
		b.fits(1280)
		// The link survives the texts.
		b.wait(`location.search.includes("scene=")`)
		n := len(b.drawn())
		b.open(s, eval[string](b, "location.pathname + location.search"))
		b.says(fmt.Sprintf("%d nodes", n))
		b.resize(360, 800)
		b.fits(360)
	}
	b.resize(1280, 900)
	b.shoot("explore-odd")
	dir := t.TempDir()
	b.run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir))
	b.press("Save as PNG")
	b.picture(filepath.Join(dir, "scene.png"))
	b.quiet()
}

// inView fails the test unless the node that the scene is about is in view.
func (b *tab) inView() {
	b.t.Helper()
	if !eval[bool](b, `(([p, v]) => p.x > v.x1 && p.x < v.x2 && p.y > v.y1 && p.y < v.y2)([`+cy+`.nodes("[?main]").position(), `+cy+`.extent()])`) {
		b.t.Error("the node that the scene is about is not in view")
	}
}

// pick chooses an option of a list by the name of the list.
func (b *tab) pick(name, value string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(`(s => { s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("select[name=%s]"))`, value, name), nil))
}

// drag presses the mouse button at a place and releases it at another one.
func (b *tab) drag(x, y, dx, dy float64) {
	b.t.Helper()
	b.run(input.DispatchMouseEvent(input.MouseMoved, x, y), input.DispatchMouseEvent(input.MousePressed, x, y).WithButton(input.Left).WithButtons(1).WithClickCount(1))
	for i := range 10 {
		part := float64(i+1) / 10
		b.run(input.DispatchMouseEvent(input.MouseMoved, x+dx*part, y+dy*part).WithButton(input.Left).WithButtons(1))
	}
	b.run(input.DispatchMouseEvent(input.MouseReleased, x+dx, y+dy).WithButton(input.Left).WithClickCount(1))
}

// picture fails the test unless the file becomes a picture with several colours.
func (b *tab) picture(file string) {
	b.t.Helper()
	for range 200 {
		text, err := os.ReadFile(file)
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		img, err := png.Decode(bytes.NewReader(text))
		if err != nil {
			time.Sleep(50 * time.Millisecond) // the browser still writes it
			continue
		}
		colours := map[any]bool{}
		for y := 0; y < img.Bounds().Dy(); y += 2 {
			for x := 0; x < img.Bounds().Dx(); x += 2 {
				colours[img.At(x, y)] = true
			}
		}
		if len(colours) < 10 {
			b.t.Errorf("the picture of %v has %d colours", img.Bounds(), len(colours))
		}
		return
	}
	b.t.Error("no picture was saved")
}

func abs(x float64) float64 { return max(x, -x) }

// sceneOf returns the scene of some nodes of one type, as a link has it. The first one is what the scene is about.
func sceneOf(b *tab, typ string, ids ...string) string {
	b.t.Helper()
	text, _ := json.Marshal(map[string]any{"n": []any{[]any{typ, ids}}, "m": []string{typ, ids[0]}})
	return eval[string](b, fmt.Sprintf(`(async () => {
		const packed = new Blob([%q]).stream().pipeThrough(new CompressionStream("deflate-raw"));
		return btoa(String.fromCharCode(...new Uint8Array(await new Response(packed).arrayBuffer()))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
	})()`, text))
}
