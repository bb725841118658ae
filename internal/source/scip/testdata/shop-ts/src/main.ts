import { Discounted, type Finder, Shelf, round } from "./stock";

/** total adds the prices of articles. */
export function total(finder: Finder, names: string[]): number {
  let sum = 0;
  for (const name of names) {
    sum += finder.find(name);
  }
  return round(sum);
}

export function open(cheap: boolean): Shelf {
  const shelf = cheap ? new Discounted() : new Shelf();
  const fill = (name: string) => shelf.put(name, 100);
  ["apple", "pear"].forEach(fill);
  return shelf.put("plum", 250);
}

console.log(total(open(true), ["apple", "plum"]));
