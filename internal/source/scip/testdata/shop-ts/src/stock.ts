/** Finder finds prices by name. */
export interface Finder {
  /** Returns the price of an article in cents. */
  find(name: string): number;
}

/** Kind says how an article is sold. */
export enum Kind { Piece, Weight }

/** Shelf has articles with their prices. */
export class Shelf implements Finder {
  private prices = new Map<string, number>();

  constructor(readonly kind: Kind = Kind.Piece) {}

  put(name: string, cents: number): this {
    this.prices.set(normalize(name), round(cents));
    return this;
  }

  find(name: string): number {
    return this.prices.get(normalize(name)) ?? missing(name);
  }

  get size(): number {
    return this.prices.size;
  }
}

/** Discounted finds prices on a shelf, and lowers them. */
export class Discounted extends Shelf {
  override find(name: string): number {
    return round(super.find(name) * rate);
  }
}

/** rate is the part of a price that a customer pays. */
export const rate = 0.9;

function normalize(name: string): string {
  return name.trim().toLowerCase();
}

export const round = (cents: number): number => Math.round(cents);

function missing(name: string): never {
  throw new Error(`no article ${name}`);
}
