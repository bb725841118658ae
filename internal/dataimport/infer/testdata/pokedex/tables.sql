CREATE TABLE types (id integer PRIMARY KEY, identifier text NOT NULL UNIQUE);
CREATE TABLE pokemon (id integer PRIMARY KEY, identifier text NOT NULL UNIQUE, height integer NOT NULL, weight integer NOT NULL,
	evolves_from_pokemon_id integer, is_default boolean NOT NULL);
CREATE TABLE pokemon_types (pokemon_id integer NOT NULL REFERENCES pokemon, type_id integer NOT NULL REFERENCES types, slot integer NOT NULL,
	UNIQUE (pokemon_id, type_id), CHECK (slot BETWEEN 1 AND 2));
-- data
ALTER TABLE pokemon ADD FOREIGN KEY (evolves_from_pokemon_id) REFERENCES pokemon;
