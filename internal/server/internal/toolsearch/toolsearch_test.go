package toolsearch

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// entries are in an order that no test expects as its result.
var entries = []Entry{
	{Name: "recent_orders", Description: "Lists the orders of a user.", Params: []string{"user", "since"}},
	{Name: "superuser_rights", Description: "What the administrators may do."},
	{Name: "find_user", Description: "Finds a person by name.", Params: []string{"name"}},
	{Name: "user_orders", Description: "Lists what somebody has bought.", Params: []string{"name", "limit"}},
	{Name: "user", Description: "One person.", Params: []string{"id"}},
	{Name: "close_account", Description: "Ends a contract; theuserid stays.", Params: []string{"id"}},
	{Name: "prune", Description: "Removes old entries.", Params: []string{"userName"}},
	{Name: "unusual_sellers", Description: "Odd behaviour.", Params: []string{"day"}},
	{Name: "weather", Description: "Tells how warm it is.", Params: []string{"university_server"}},
	{Name: "plain", Description: "Nothing to see."},
}

func TestSearch(t *testing.T) {
	tests := []struct{ text, want string }{
		// The entry whose whole name matches comes first. Then come the entries with the word in
		// the order of their scores: in a short name, in a description, in a parameter. The entries
		// that contain only its letters come last, by field.
		{"user", "user find_user user_orders recent_orders prune superuser_rights close_account unusual_sellers weather"},
		{"USER", "user find_user user_orders recent_orders prune superuser_rights close_account unusual_sellers weather"},
		{"user_orders", "user_orders recent_orders user find_user prune"},
		{"orders of the user", "recent_orders user_orders user prune find_user"}, // recent_orders has a parameter user
		{"administrator", "superuser_rights"},
		{"since", "recent_orders"},
		{"fdusr", "find_user"},
		{"ordres", "recent_orders user_orders"},    // a typing error
		{"purchases", "recent_orders user_orders"}, // synonyms: "orders", "bought"
		{"warmth", "weather"},
		{"orders zzz", "recent_orders user_orders"},
		{"zzz", ""},
		{"", "recent_orders superuser_rights find_user user_orders user close_account prune unusual_sellers weather plain"},
		{" _-", "recent_orders superuser_rights find_user user_orders user close_account prune unusual_sellers weather plain"},
	}
	for _, tt := range tests {
		var got []string
		for _, i := range search(tt.text, entries...) {
			got = append(got, entries[i].Name)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// TestQuestions checks that a search finds entries by the questions that they answer.
func TestQuestions(t *testing.T) {
	asked := []Entry{
		{Name: "list_topics", Description: "Lists subjects."},
		{Name: "who_knows", Description: "Lists people.", Questions: []string{"Who should be asked about pricing?", "Which colleague understands taxes?"}},
		{Name: "price_of", Description: "The pricing of a product."},
	}
	for text, want := range map[string]string{
		"whom do I ask about taxes": "who_knows",
		"pricing":                   "price_of",
	} {
		found := search(text, asked...)
		if len(found) == 0 || asked[found[0]].Name != want {
			t.Errorf("%q: found %v, expected %s first", text, found, want)
		}
	}
}

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"find_user": "find user", "findUser": "find user", "HTTPServer": "httpserver", "  a--b ": "a b", "Ärger_ÖL": "ärger öl", "v2Name": "v2 name", "": "",
	} {
		if got := fold(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestSimilar(t *testing.T) {
	names := []string{"find_user", "user", "orders_of_user", "prune", "unusual_sellers"}
	for text, want := range map[string]string{
		"user": "user find_user orders_of_user unusual_sellers", "usr_ordrs": "orders_of_user", "ordrs": "orders_of_user", "client": "", "": "",
	} {
		var got []string
		for _, i := range Similar(text, names) {
			got = append(got, names[i])
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("find user", "find_user", "Finds a user.", "name")
	f.Fuzz(func(t *testing.T, text, name, description, param string) {
		got := search(text, Entry{Name: name, Description: description, Params: []string{param}})
		if len(got) > 1 || text == "" && len(got) != 1 {
			t.Errorf("got %v", got)
		}
		if utf8.ValidString(name) && !slices.Equal(search(name, Entry{Name: name}), []int{0}) {
			t.Errorf("%q does not match itself", name)
		}
	})
}

func search(text string, entries ...Entry) []int {
	return NewIndex(entries).Search(text, indexes(len(entries)))
}

// indexes returns the numbers from 0 to n-1.
func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
