package studio

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// drop drops a file on the page, as the mouse does.
func (b *tab) drop(name, text string) {
	b.t.Helper()
	b.run(chromedp.Evaluate(fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([%q], %q));
		for (const type of ["dragover", "drop"]) {
			document.querySelector(".drop").dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
		}
	})()`, text, name), nil))
}

// TestImport drops tables, corrects what the server proposes, tries it, and imports: into main, and where that is protected into a draft.
func TestImport(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	notes := "slug;text;created;symbol\none;" + harm + ";02.05.2026 10:30;" + symbol + "\n=1+1;plain;03.05.2026 11:00;\n"
	b.logIn(s, "act-dev", "/studio/code/import")
	b.wantText("Drop a file here")
	b.accessible()
	b.drop("notes.xls", notes)
	b.wantText("expected a name that ends in .csv or .tsv")
	b.drop("notes.parquet", "PAR1")
	b.wantText("for Parquet and other formats, use omnigraph import")
	b.drop("notes.csv", notes+"three;x;04.05.2026 12:00;nowhere\n")
	b.wantText("notes.csv: 3 rows", "The rows are identified by slug", "<img src=x onerror=alert(1)>", "U+202E", "the times have no zone", "About to Symbol")
	b.wait("document.querySelector('form select').value === 'node Note'")
	b.run(chromedp.Click(`//button[normalize-space()="Try without writing"]`, chromedp.BySearch))
	b.wantText("About has no @unique(src, dst), so a second load would double the edge")
	b.click("form input[type=checkbox]")
	b.run(chromedp.Click(`//button[normalize-space()="Try without writing"]`, chromedp.BySearch))
	b.wantText("One record does not fit", "nowhere", "line")
	if got := eval[string](b, `[...document.querySelectorAll("[role=alert] td")].slice(0, 2).map(e => e.innerText).join()`); got != "4,symbol" {
		t.Errorf("the fault is in %s, want line 4, column symbol", got)
	}
	if n := eval[int](b, `document.querySelectorAll("main img, main script").length`); n != 0 {
		t.Errorf("the page has %d elements of the file", n)
	}
	b.looks("import-faults")

	// The mended file, with the keyboard alone once it is chosen.
	file := filepath.Join(t.TempDir(), "notes.csv")
	write(t, file, notes)
	b.run(chromedp.SetUploadFiles("#file", []string{file}, chromedp.ByQuery))
	b.wantText("notes.csv: 2 rows")
	b.wait("document.querySelector('form') !== null")
	b.tabTo("form input[type=checkbox]")
	b.run(chromedp.KeyEvent(" "))
	b.tabTo("form button[type=submit]")
	b.run(chromedp.KeyEvent(kb.Enter))
	b.wantText("Nothing was written. The import would make these changes", "2 Note: 2 new", "1 About: 1 new")
	b.looks("import-tried")
	// Without a column for a property that is needed, the server says what lacks.
	b.run(chromedp.Evaluate(`(() => { const e = [...document.querySelectorAll(".mapped select")].find(e => e.labels[0].innerText.startsWith("text")); e.value = "-1"; e.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
	b.run(chromedp.Click(`//button[normalize-space()="Try without writing"]`, chromedp.BySearch))
	b.wantText("Note.text is required")
	b.run(chromedp.Evaluate(`(() => { const e = [...document.querySelectorAll(".mapped select")].find(e => e.labels[0].innerText.startsWith("text")); e.value = "1"; e.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
	b.run(chromedp.SendKeys(`//label[starts-with(normalize-space(), "Message")]/input`, "two notes", chromedp.BySearch), chromedp.Click(`//button[normalize-space()="Try without writing"]`, chromedp.BySearch))
	b.wantText("2 Note: 2 new")
	b.run(chromedp.Click(`//button[normalize-space()="Import into main"]`, chromedp.BySearch))
	b.wantText("The import is on the branch main.", "See what it changed")
	b.looks("import-done")
	b.run(chromedp.Click(`//a[normalize-space()="See what it changed"]`, chromedp.BySearch))
	b.wantText("two notes", "=1+1", "insert")
	b.quiet()

	// act-ada may not write to main, which is protected.
	b.logIn(s, "act-ada", "/studio/code/import")
	b.drop("notes.csv", "slug,text,created\nmine,hello,2026-05-02T10:30:00Z\n")
	b.wantText("notes.csv: 1 rows")
	b.run(chromedp.Click(`//button[normalize-space()="Try without writing"]`, chromedp.BySearch))
	b.wantText("1 Note: 1 new")
	b.run(chromedp.Click(`//button[normalize-space()="Import into my draft"]`, chromedp.BySearch))
	b.wantText("The import is on the branch draft/", "Propose it for main")
	b.quiet()

	// An actor who may not read the schema has nothing to import into.
	b.logIn(s, "act-bot", "/studio/code/import")
	b.wantText("the policy does not allow")
	b.quiet()
}
