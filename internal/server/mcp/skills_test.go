package mcp_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The messages of the extension, as a client declares them.
type (
	skillsParams struct {
		sdk.ParamsBase
		URI string `json:"uri,omitempty"`
	}
	skillEntry struct {
		URI         string         `json:"uri"`
		Frontmatter map[string]any `json:"frontmatter"`
		Resources   []struct {
			URI    string `json:"uri"`
			Digest string `json:"digest"`
			Size   int    `json:"size"`
		} `json:"resources"`
	}
	skillsList struct {
		sdk.ResultBase
		sdk.Cacheable
		Skills []skillEntry `json:"skills"`
	}
	skillsGet struct {
		sdk.ResultBase
		sdk.Cacheable
		Skill skillEntry `json:"skill"`
	}
)

// skillsClient connects the official client with the methods of the extension.
func skillsClient(t *testing.T, url string, actor *access.Actor) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, nil)
	if err := sdk.AddSendingCustomMethod[*skillsParams, *skillsList](c, "skills/list"); err != nil {
		t.Fatal(err)
	}
	if err := sdk.AddSendingCustomMethod[*skillsParams, *skillsGet](c, "skills/get"); err != nil {
		t.Fatal(err)
	}
	s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: as{actor}}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s
}

// filesOf lists the skills, checks the entry and every file as a host must, and returns the files by URI.
func filesOf(t *testing.T, s *sdk.ClientSession) map[string]string {
	t.Helper()
	list, err := sdk.CallCustomMethod[*skillsParams, *skillsList](t.Context(), s, "skills/list", &skillsParams{})
	if err != nil {
		t.Fatal(err)
	}
	if list.CacheScope != "private" {
		t.Errorf("the list is %q", list.CacheScope)
	}
	files := map[string]string{}
	for _, e := range list.Skills {
		one, err := sdk.CallCustomMethod[*skillsParams, *skillsGet](t.Context(), s, "skills/get", &skillsParams{URI: e.URI})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, one.Skill); diff != "" || one.CacheScope != "private" {
			t.Errorf("skills/get (-list +get):\n%s", diff)
		}
		if want := "skill://" + e.Frontmatter["name"].(string) + "/SKILL.md"; e.URI != want || e.Resources[0].URI != want {
			t.Errorf("the skill is at %s, expected %s", e.URI, want)
		}
		for _, r := range e.Resources {
			res, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
			if err != nil {
				t.Fatal(err)
			}
			text := res.Contents[0].Text
			if digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))); digest != r.Digest || len(text) != r.Size || files[r.URI] != "" {
				t.Errorf("%s: found %s and %d bytes, the entry says %s and %d", r.URI, digest, len(text), r.Digest, r.Size)
			}
			files[r.URI] = text
		}
	}
	return files
}

func TestSkills(t *testing.T) {
	c := config(t)
	url := serve(t, c, mcp.Options{})
	writer := skillsClient(t, url, servedtest.Writer)
	for _, capabilities := range []*sdk.ServerCapabilities{writer.InitializeResult().Capabilities} {
		if _, ok := capabilities.Extensions["io.modelcontextprotocol/skills"]; !ok || capabilities.Resources == nil {
			t.Errorf("capabilities: %+v", capabilities)
		}
	}
	all := filesOf(t, writer)
	want := map[string]string{}
	queries := slices.DeleteFunc(servedtest.Catalog(t).Queries, func(q tool.StoredQuery) bool { return q.Info().Name == "misfit" }) // it does not fit the schema
	sk := mcp.NewSkill("people", servedtest.Schema(t), servedtest.Source, builtin.All("1.2.3"), queries, 0)
	for _, f := range sk.Files {
		want["skill://people/"+f.Path] = string(f.Text)
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("gq skill writes other files than the server sends (-gq +server):\n%s", diff)
	}

	if _, err := writer.CallTool(t.Context(), &sdk.CallToolParams{Name: "graph_mutate", Arguments: map[string]any{"query": `query m() { insert Person { name: "eve" } }`}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, filesOf(t, writer)); diff != "" {
		t.Errorf("a commit changes the skill:\n%s", diff)
	}

	// A caller who may only run find_person learns of that query and of nothing else.
	bot := filesOf(t, skillsClient(t, url, servedtest.Bot))
	if len(bot) != 2 || !strings.Contains(bot["skill://people/references/queries.md"], `lookup_person {"params":{"name":"<String>"`) {
		t.Errorf("the bot has %v", bot)
	}
	for uri, text := range bot {
		for _, hidden := range []string{"everyone", "graph_query", "schema_get", "Knows", "add_person"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s names %s:\n%s", uri, hidden, text)
			}
		}
	}
	// A resource of another caller's skill is as unknown as one that does not exist.
	session := skillsClient(t, url, servedtest.Bot)
	answer := func(uri string) string {
		_, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		return strings.ReplaceAll(fmt.Sprint(err), uri, "URI")
	}
	if got, want := answer("skill://people/references/schema.md"), answer("skill://people/references/nosuch.md"); got != want || !strings.Contains(got, "not found") {
		t.Errorf("found %q for a hidden file and %q for no file", got, want)
	}
	if nobody := filesOf(t, skillsClient(t, url, servedtest.Nobody)); len(nobody) != 0 {
		t.Errorf("nobody has %v", nobody)
	}
}

// TestSkillErrors checks the answers of the extension's methods where there is no skill, and that only
// callers with a skill find its first file among the resources.
func TestSkillErrors(t *testing.T) {
	url := serve(t, config(t), mcp.Options{})
	for _, version := range []string{"2025-06-18", "2025-11-25", newest} {
		status := http.StatusOK
		if version == newest {
			status = http.StatusBadRequest
		}
		for _, tt := range []struct {
			actor  *access.Actor
			params string
			status int
			want   string
		}{
			{servedtest.Reader, `"uri":"skill://people/SKILL.md"`, 200, `"frontmatter":{"name":"people"`},
			{servedtest.Reader, `"uri":"skill://people/references/schema.md"`, status, `"code":-32602`},
			{servedtest.Reader, `"uri":"skill://nosuch/SKILL.md"`, status, `no skill is served at`},
			{servedtest.Nobody, `"uri":"skill://people/SKILL.md"`, status, `no skill is served at`},
			{servedtest.Reader, `"uri":7`, status, `params.uri: expected a string`},
		} {
			resp, body := post(t, url, version, tt.actor, message(version, "skills/get", tt.params))
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%s %s: %d %s", version, tt.params, resp.StatusCode, body)
			}
		}
		if _, body := post(t, url, version, servedtest.Reader, message(version, "skills/list", `"cursor":"x"`)); !strings.Contains(body, "params.cursor") {
			t.Errorf("%s: %s", version, body)
		}
	}
	for _, tt := range []struct {
		actor *access.Actor
		want  bool
	}{{servedtest.Reader, true}, {servedtest.Bot, true}, {servedtest.Nobody, false}} {
		list, err := connect(t, url, tt.actor).ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(list.Resources, func(r *sdk.Resource) bool { return r.URI == "skill://people/SKILL.md" && r.Name == "people" }); got != tt.want {
			t.Errorf("%s lists the skill: %t", tt.actor.ID, got)
		}
	}
}
