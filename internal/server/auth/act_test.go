package auth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth/authtest"
)

// act returns the value of a claim act: the ids, the current agent first.
func act(ids ...string) map[string]any {
	claim := map[string]any{"sub": ids[0]}
	if len(ids) > 1 {
		claim["act"] = act(ids[1:]...)
	}
	return claim
}

// TestAct verifies tokens with a claim act. One that is not understood in full must be rejected, and never count as its subject.
func TestAct(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.ES256)
	i := authtest.New(t, key)
	groups := func(o *OIDCOptions) { o.Groups = []string{"people", "bots"} }
	prefix := func(o *OIDCOptions) { o.ActorPrefix = "sso:" }
	email := func(o *OIDCOptions) { o.ActorClaim = "email" }
	reserved := func(o *OIDCOptions) { o.Reserved = func(actor string) bool { return actor == "act-root" } }
	const itself = "rejected: says that an actor acts for itself"
	eight := []string{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"}
	for _, tt := range []struct {
		name string
		with func(*OIDCOptions)
		over map[string]any
		want string
	}{
		{"one agent", nil, map[string]any{"act": act("bot")}, "oidc ada via bot"},
		{"two agents", nil, map[string]any{"act": act("bot", "planner")}, "oidc ada via bot via planner"},
		{"eight agents", nil, map[string]any{"act": act(eight...)}, "oidc ada via " + strings.Join(eight, " via ")},
		{"nine agents", nil, map[string]any{"act": act(append(eight, "a9")...)}, "rejected: names more than 8 agents in the claim act"},
		{"agents take turns", nil, map[string]any{"act": act("bot", "planner", "bot")}, "oidc ada via bot via planner via bot"},
		{"of this issuer", nil, map[string]any{"act": map[string]any{"sub": "bot", "iss": i.URL}}, "oidc ada via bot"},
		{"with claims that mean nothing here", nil, map[string]any{"act": map[string]any{"sub": "bot", "exp": 1, "aud": "another"}}, "oidc ada via bot"},
		{"prefix", prefix, map[string]any{"act": act("bot")}, "oidc sso:ada via sso:bot"},
		{"address", email, map[string]any{"email": "ada@x.example", "act": map[string]any{"sub": "7", "email": "bot@x.example"}}, "oidc ada@x.example via bot@x.example"},
		{"groups", groups, map[string]any{"groups": []string{"people"}, "act": map[string]any{"sub": "bot", "groups": []string{"bots", "others"}}}, "oidc ada via bot people 0\x00bots"},
		{"groups of the subject alone", groups, map[string]any{"groups": []string{"people", "bots"}, "act": act("bot")}, "oidc ada via bot bots people"},
		{"may_act alone", nil, map[string]any{"may_act": act("bot")}, "oidc ada"},

		{"null", nil, map[string]any{"act": json.RawMessage("null")}, "rejected: has a claim act that is not an object"},
		{"a text", nil, map[string]any{"act": "bot"}, "rejected: has a claim act that is not an object"},
		{"a list", nil, map[string]any{"act": []any{act("bot")}}, "rejected: has a claim act that is not an object"},
		{"false", nil, map[string]any{"act": false}, "rejected: has a claim act that is not an object"},
		{"empty", nil, map[string]any{"act": map[string]any{}}, "rejected: names no actor in the claim act.sub"},
		{"no name", nil, map[string]any{"act": map[string]any{"act": act("bot")}}, "rejected: names no actor in the claim act.sub"},
		{"a number as name", nil, map[string]any{"act": map[string]any{"sub": 7}}, "rejected: names no actor in the claim act.sub"},
		{"an empty name", nil, map[string]any{"act": act("")}, "rejected: names no actor in the claim act.sub"},
		{"a name with blanks", nil, map[string]any{"act": act("bot via root")}, "rejected: names an actor that a policy cannot name, in the claim act; expected at most 128 ASCII characters without blanks"},
		{"an earlier text", nil, map[string]any{"act": map[string]any{"sub": "bot", "act": "planner"}}, "rejected: has a claim act.act that is not an object"},
		{"an earlier null", nil, map[string]any{"act": map[string]any{"sub": "bot", "act": json.RawMessage("null")}}, "rejected: has a claim act.act that is not an object"},
		{"an earlier one without a name", nil, map[string]any{"act": map[string]any{"sub": "bot", "act": map[string]any{"iss": i.URL}}}, "rejected: names no actor in the claim act.act.sub"},
		{"of another issuer", nil, map[string]any{"act": map[string]any{"sub": "bot", "iss": "https://evil.example"}}, "rejected: names an actor of another issuer in the claim act.iss"},
		{"of an issuer that is no text", nil, map[string]any{"act": map[string]any{"sub": "bot", "iss": 7}}, "rejected: names an actor of another issuer in the claim act.iss"},
		{"acts for itself", nil, map[string]any{"act": act("ada")}, itself},
		{"acts for itself, indirectly", nil, map[string]any{"act": act("bot", "ada")}, itself},
		{"the same twice", nil, map[string]any{"act": act("bot", "bot")}, itself},
		{"reserved name", reserved, map[string]any{"act": act("act-root")}, "rejected: names an actor that a token of this issuer may not have, in the claim act"},
		{"no address", email, map[string]any{"email": "ada@x.example", "act": act("bot@x.example")}, "rejected: names no actor in the claim act.email"},
		{"address not verified", email, map[string]any{"email": "ada@x.example", "act": map[string]any{"email": "bot@x.example", "email_verified": false}}, "rejected: names its actor by an email address that is not verified, in the claim act"},
		{"groups that are a number", groups, map[string]any{"act": map[string]any{"sub": "bot", "groups": 7}}, "rejected: has no list of groups in the claim act.groups"},
		{"written twice", nil, map[string]any{"act": json.RawMessage(`{"sub":"bot","sub":"ada"}`)}, "rejected: has no readable claims"},
	} {
		var with []func(*OIDCOptions)
		if tt.with != nil {
			with = append(with, tt.with)
		}
		v, _, _ := verifier(t, i, with...)
		if got := decided(t, v, i.Token(t, key, "ada", tt.over)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestActTwice verifies a token with two claims act. A decoder that takes the last one would drop an agent.
func TestActTwice(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.ES256)
	i := authtest.New(t, key)
	v, _, _ := verifier(t, i)
	whole, err := json.Marshal(i.Claims("ada", map[string]any{"act": act("bot")}))
	if err != nil {
		t.Fatal(err)
	}
	signed := func(payload string) string {
		t.Helper()
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: key.Alg, Key: key.Private}, (&jose.SignerOptions{}).WithType("at+jwt").WithHeader("kid", "k1"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := signer.Sign([]byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		token, err := s.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	if got := decided(t, v, signed(string(whole))); got != "oidc ada via bot" {
		t.Errorf("one claim: %s", got)
	}
	twice := strings.TrimSuffix(string(whole), "}") + `,"act":{"sub":"eve"}}`
	if got := decided(t, v, signed(twice)); got != "rejected: has no readable claims" {
		t.Errorf("two claims: %s", got)
	}
}

// TestActOfIssuers verifies tokens with the claims that the documentation of issuers shows. Neither Keycloak nor Entra ID writes act by
// itself: a mapper of Keycloak can add it, and Entra ID says otherwise that an agent acts.
func TestActOfIssuers(t *testing.T) {
	key := authtest.NewKey(t, "k1", jose.RS256)
	i := authtest.New(t, key)
	keycloak := map[string]any{
		"jti": "onrtac:5ea1b3f2-4dbb-4b32-8f86-4f6f1a6d1c5e", "typ": "Bearer", "azp": "planner", "sid": "pKp3uYd3", "acr": "1",
		"allowed-origins": []string{"http://localhost:5173"}, "realm_access": map[string]any{"roles": []string{"offline_access", "uma_authorization"}},
		"resource_access": map[string]any{"account": map[string]any{"roles": []string{"manage-account", "view-profile"}}},
		"scope":           "email profile", "email_verified": true, "name": "Ada Lovelace", "preferred_username": "ada", "given_name": "Ada", "family_name": "Lovelace",
		"email": "ada@example.com", "groups": []string{"/people"},
	}
	entra := map[string]any{
		"aio": "Y2JgYGhn1nzmErKqi0vc4Fr6H22", "azp": "aaaaaaaa-1111-2222-3333-444444444444", "azpacr": "2", "idtyp": "user", "name": "Ada Lovelace",
		"oid": "bbbbbbbb-1111-2222-3333-444444444444", "preferred_username": "ada@example.com", "rh": "1.AAAAAQ", "scp": "access_as_user",
		"tid": "00000001-0000-0ff1-ce00-000000000000", "uti": "m5RaaRnoFUyp2TbSCAAAAA", "ver": "2.0",
	}
	with := func(claims map[string]any, more map[string]any) map[string]any {
		all := map[string]any{}
		for _, from := range []map[string]any{claims, more} {
			for k, v := range from {
				all[k] = v
			}
		}
		return all
	}
	byUser := func(o *OIDCOptions) { o.ActorClaim, o.Groups = "preferred_username", []string{"/people", "/bots"} }
	byObject := func(o *OIDCOptions) { o.ActorClaim = "oid" }
	for _, tt := range []struct {
		name   string
		with   func(*OIDCOptions)
		claims map[string]any
		want   string
	}{
		{"Keycloak", byUser, keycloak, "oidc ada /people"},
		{"Keycloak with a mapper", byUser, with(keycloak, map[string]any{"act": map[string]any{"preferred_username": "service-account-planner", "sub": "planner"}}), "oidc ada via service-account-planner /people"},
		{"Keycloak with groups of the agent", byUser, with(keycloak, map[string]any{"act": map[string]any{"preferred_username": "planner", "groups": []string{"/bots"}}}), "oidc ada via planner /people 0\x00/bots"},
		{"Keycloak with another claim of the agent", byUser, with(keycloak, map[string]any{"act": map[string]any{"sub": "planner"}}), "rejected: names no actor in the claim act.preferred_username"},
		{"Entra ID", byObject, entra, "oidc bbbbbbbb-1111-2222-3333-444444444444"},
		{"Entra ID, an agent for a user", byObject, with(entra, map[string]any{"xms_act_fct": "3 9 11", "xms_sub_fct": "2 3", "xms_par_app_azp": "30cf4c22-9985-4ef7-8756-91cc888176bd"}),
			"rejected: is of an agent identity of Entra ID for a user, and does not say in a claim act who acts"},
		{"Entra ID, an agent for itself", byObject, with(entra, map[string]any{"idtyp": "app", "xms_act_fct": "3 9 11", "xms_sub_fct": "9 3 11"}), "oidc bbbbbbbb-1111-2222-3333-444444444444"},
		{"Entra ID, a user of an application", byObject, with(entra, map[string]any{"xms_act_fct": "3 9", "xms_sub_fct": "2 3"}), "oidc bbbbbbbb-1111-2222-3333-444444444444"},
	} {
		v, _, _ := verifier(t, i, tt.with)
		if got := decided(t, v, i.Token(t, key, "f3b1c1f6-0000-4000-8000-000000000001", tt.claims)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestOnBehalfOf reads the tokens of agents from a tokens file.
func TestOnBehalfOf(t *testing.T) {
	ts := &Tokens{}
	src := digest("one") + ": { actor: act-bot, on_behalf_of: act-ada }\n" +
		digest("two") + ": { actor: act-bot, on_behalf_of: { actor: act-planner, on_behalf_of: act-ada } }\n" + digest("three") + ": act-bot\n"
	if err := ts.parse("t.yaml", []byte(src)); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{"one": "act-ada via act-bot", "two": "act-ada via act-bot via act-planner", "three": "act-bot"} {
		a, err := ts.Verify(t.Context(), token)
		if err != nil || a == nil || a.Name() != want || a.Source != "token" || len(access.GroupsOf(a)) > 0 {
			t.Errorf("%s: %+v, %v; want %s", token, a, err, want)
		}
	}
	for name, want := range map[string]bool{"act-ada": true, "act-bot": true, "act-planner": true, "act-eve": false} {
		if got := ts.Names(name); got != want {
			t.Errorf("the name %s is known: %v", name, got)
		}
	}
}
