package studio

import (
	"context"
	"strings"
	"testing"

	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// withObjects replaces the parameters of importers, since no stored query of the graph takes objects. It keeps the bodies of the
// calls of importers in window.sent.
const withObjects = `
const real = window.fetch;
window.sent = [];
window.fetch = async (path, init) => {
  if (!String(path).includes("/queries/importers")) return real(path, init);
  if (init?.body) window.sent.push(init.body);
  const answer = await real(path, init);
  if (init?.body) return answer;
  const description = await answer.json();
  const place = { type: "object", properties: { type: { type: "string", enum: ["Person", "Team"] }, id: { type: "string" } } };
  description.input_schema.properties.params = { properties: { place, places: { type: "array", items: place } }, required: ["place", "places"] };
  return new Response(JSON.stringify(description), { status: 200, headers: answer.headers });
};`

// TestRunObjects fills in the fields of parameters that are objects, and lists of objects.
func TestRunObjects(t *testing.T) {
	needBrowser(t)
	s := codeSite(t)
	b := openTab(t)
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdp.AddScriptToEvaluateOnNewDocument(withObjects).Do(ctx)
		return err
	}))
	b.logIn(s, "act-dev", "/studio/code/run/importers")
	b.wait("document.querySelector('#field-places') !== null")
	b.wantText(`A JSON object, such as {"type":"Person","id":"text"}.`)
	b.run(chromedp.SendKeys("#field-place", "ann", chromedp.ByQuery),
		chromedp.SendKeys("#field-places", `{"type":"Team","id":"a \"b\""}`, chromedp.ByQuery),
		chromedp.Click("form button[type=submit]", chromedp.ByQuery))
	b.wait("document.querySelector('.fault') !== null")
	b.wantText("Give a JSON object")
	b.run(chromedp.Evaluate(`document.querySelector("#field-place").select()`, nil),
		chromedp.KeyEvent(`{"type":"Person","id":"ann"}`), chromedp.Click("form button[type=submit]", chromedp.ByQuery))
	b.wait("window.sent.length > 0")
	want := `"params":{"place":{"type":"Person","id":"ann"},"places":[{"type":"Team","id":"a \"b\""}]}`
	if sent := eval[string](b, "window.sent[0]"); !strings.Contains(sent, want) {
		t.Errorf("the studio sent %s, want it to contain %s", sent, want)
	}
	b.quiet()
}
