package snb

import "strings"

// countryList gives each country with its continent, its main language and its weight, which is the
// relative number of persons who live there.
var countryList = []struct {
	name, continent, language string
	weight                    int
}{
	{"India", "Asia", "hi", 20}, {"China", "Asia", "zh", 20}, {"Indonesia", "Asia", "id", 5}, {"Japan", "Asia", "ja", 3},
	{"Vietnam", "Asia", "vi", 3}, {"Turkey", "Asia", "tr", 3}, {"Germany", "Europe", "de", 4}, {"France", "Europe", "fr", 4},
	{"Italy", "Europe", "it", 3}, {"Spain", "Europe", "es", 3}, {"Poland", "Europe", "pl", 2}, {"Hungary", "Europe", "hu", 1},
	{"Sweden", "Europe", "sv", 1}, {"Portugal", "Europe", "pt", 1}, {"Egypt", "Africa", "ar", 3}, {"Nigeria", "Africa", "en", 4},
	{"Kenya", "Africa", "sw", 2}, {"Morocco", "Africa", "ar", 1}, {"Ghana", "Africa", "en", 1}, {"Canada", "North_America", "en", 2},
	{"Mexico", "North_America", "es", 4}, {"United_States", "North_America", "en", 10}, {"Cuba", "North_America", "es", 1},
	{"Brazil", "South_America", "pt", 6}, {"Peru", "South_America", "es", 1}, {"Chile", "South_America", "es", 1},
	{"Australia", "Oceania", "en", 1}, {"New_Zealand", "Oceania", "en", 1},
}

// classTree gives each class of tags with its parent, which stands before it.
var classTree = []struct{ name, parent string }{
	{"Thing", ""}, {"Agent", "Thing"}, {"Place", "Thing"}, {"Work", "Thing"}, {"Event", "Thing"}, {"Species", "Thing"},
	{"Person", "Agent"}, {"Organisation", "Agent"}, {"Artist", "Person"}, {"Athlete", "Person"}, {"Politician", "Person"},
	{"Scientist", "Person"}, {"Writer", "Artist"}, {"MusicalArtist", "Artist"}, {"Actor", "Artist"}, {"SoccerPlayer", "Athlete"},
	{"TennisPlayer", "Athlete"}, {"Band", "Organisation"}, {"Company", "Organisation"}, {"University", "Organisation"},
	{"City", "Place"}, {"Country", "Place"}, {"Building", "Place"}, {"Airport", "Building"}, {"Museum", "Building"},
	{"Album", "Work"}, {"Book", "Work"}, {"Film", "Work"}, {"Song", "Work"}, {"TelevisionShow", "Work"}, {"MilitaryConflict", "Event"},
	{"Election", "Event"}, {"Animal", "Species"}, {"Plant", "Species"}, {"Bird", "Animal"}, {"Mammal", "Animal"},
}

var firstNames = strings.Fields(`Abdul Adriaan Aisha Akira Alejandro Ali Amara Amir Ana Andrei Anna Antonio Arjun Bingyang Bruno
	Carlos Carmen Chen Chris David Deepak Elena Emil Emma Eva Farid Fatima Francisco Hans Hao Hiroshi Ines Ivan Jan Jie John Jose
	Joseph Jun Karl Ken Laura Lei Li Lin Luca Lucia Maria Mehmet Mei Mohamed Nadia Nina Olga Otto Pablo Paul Peter Priya Rahul
	Ravi Rosa Sanjay Sofia Sven Takeshi Thomas Uwe Vera Wei Yang Yusuf Zoe`)

var lastNames = strings.Fields(`Achiou Ahmed Alvarez Andersson Bauer Becker Bernard Bianchi Bos Brown Castro Chaudhary Chen Costa
	Das Diaz Dubois Eriksson Fischer Garcia Gomez Gupta Haddad Horvath Hosseini Ivanov Johansson Jones Kaya Khan Kim Kovacs Kumar
	Lange Lee Lopez Martin Meyer Mori Moreau Nagy Nguyen Novak Okafor Perera Petrov Popov Rao Reddy Rossi Roth Santos Sato Schmidt
	Sharma Silva Singh Smith Suzuki Tanaka Torres Wang Weber Williams Yamada Zhang Zhu`)

// topicWords make the names of tags and of cities, and the texts of messages.
var topicWords = strings.Fields(`amber ancient autumn azure basalt birch bitter blue bronze calm cedar cobalt copper coral crimson
	crystal dawn delta desert distant drift dusk early eastern echo elder ember empty fabled falling fern first flint forest frozen
	gentle glass golden granite green grey harbor hidden hollow indigo iron island ivory jade lantern last late lemon little lone
	lost lunar maple marble meadow mellow midnight mirror misty monsoon mossy narrow night noble northern ocean olive opal orchid
	pale paper pearl pine quiet rapid raven red rising river rose rustic saffron sandy scarlet second secret shaded silent silver
	slow small smooth solar southern spring stone storm summer sunny swift tall third tidal timber twin upper valley velvet violet
	wandering western white wild willow winter wooden young`)

var browsers = []string{"Firefox", "Chrome", "Internet Explorer", "Safari", "Opera"}

var replies = []string{"ok", "thanks", "good", "great", "no way!", "right", "yes", "maybe", "cool", "LOL", "roflol", "duh", "I see", "fine"}
