CREATE TYPE cause AS ENUM ('carrier', 'weather', 'security');
CREATE DOMAIN degrees AS double precision CHECK (VALUE >= -180 AND VALUE <= 180);
CREATE TABLE airlines (carrier varchar(2) PRIMARY KEY, name text NOT NULL);
CREATE TABLE airports (faa varchar(4) PRIMARY KEY, name text NOT NULL, lat degrees NOT NULL, lon degrees NOT NULL, tzone text NOT NULL);
CREATE TABLE flights (time_hour timestamp NOT NULL, carrier varchar(2) NOT NULL REFERENCES airlines, flight integer,
	origin varchar(4) NOT NULL REFERENCES airports, dest varchar(4) NOT NULL REFERENCES airports, dep_delay text, PRIMARY KEY (carrier, flight));
-- data
ALTER TABLE flights ALTER dep_delay TYPE double precision USING replace(dep_delay, 'NA', 'NaN')::double precision;
CREATE TABLE delays (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, carrier varchar(2), flight integer, cause cause NOT NULL, minutes interval NOT NULL,
	noted_at timestamptz NOT NULL, codes integer[] NOT NULL, FOREIGN KEY (carrier, flight) REFERENCES flights);
INSERT INTO delays (carrier, flight, cause, minutes, noted_at, codes)
	SELECT carrier, flight, (enum_range(NULL::cause))[1 + flight % 3], make_interval(mins => flight), '2024-05-01 10:00:00.25+02', ARRAY[flight, 1]
	FROM flights WHERE flight % 4 = 0 ORDER BY flight;
CREATE TABLE audit (at timestamptz DEFAULT 'infinity', what jsonb, seen boolean[]);
INSERT INTO audit SELECT CASE n WHEN 1 THEN 'infinity' ELSE timestamptz '2024-05-01 00:00Z' + n * interval '1 day' END, '{"n": 1}', '{t,NULL}' FROM generate_series(1, 3) n;
