/** Something out of JSON, ready to be drawn. */
export type Node = {
  /** Unique, by the way that leads to it. */
  path: string;
  /** What it is called where it stands; `null` for the whole. */
  name: string | null;
  /** Whether it matches the search. */
  isHit: boolean;
} & (
  | { kind: "leaf"; text: string; type: "text" | "other" | "masked" }
  | { kind: "branch"; isList: boolean; size: number; children: Node[]; isOpen: boolean }
);

export type Outline = {
  root: Node;
  /** How many matches there are. */
  hits: number;
  /** Whether there was too much to draw it all. */
  isCut: boolean;
};

/** The whole, and in it what a provider's event is about. */
const OPEN_TO = 2;

/**
 * @param options.find in any case, in names and values; `null`: no search
 * @param options.mask what stands where something was taken out: it is never found
 * @param options.most how many names and values at most
 */
export function outline(
  value: unknown,
  options: { find: string | null; mask: string; most: number },
): Outline {
  const searchText = options.find?.toLowerCase() ?? null;
  let remaining = options.most;
  let hits = 0;
  let isCut = false;

  function says(text: string): boolean {
    return searchText !== null && text !== options.mask && text.toLowerCase().includes(searchText);
  }

  function draw(value: unknown, name: string | null, path: string, depth: number): Node {
    remaining -= 1;
    if (typeof value !== "object" || value === null) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      const isHit = says(text) || (name !== null && says(name));
      if (isHit) hits += 1;
      const type = value === options.mask ? "masked" : typeof value === "string" ? "text" : "other";
      return { kind: "leaf", path, name, text, type, isHit };
    }
    const isHit = name !== null && says(name);
    if (isHit) hits += 1;
    const isList = Array.isArray(value);
    const entries = Object.entries(value);
    const children: Node[] = [];
    for (const [key, child] of entries) {
      if (remaining <= 0) {
        isCut = true;
        break;
      }
      children.push(draw(child, key, `${path}/${children.length}`, depth + 1));
    }
    const isOpen =
      depth < OPEN_TO || children.some((child) => child.isHit || (child.kind === "branch" && leads(child)));
    return { kind: "branch", path, name, isHit, isList, size: entries.length, children, isOpen };
  }

  /** Whether something below matches the search. */
  function leads(branch: Node & { kind: "branch" }): boolean {
    return (
      searchText !== null &&
      branch.isOpen &&
      branch.children.some((child) => child.isHit || (child.kind === "branch" && leads(child)))
    );
  }

  return { root: draw(value, null, "", 0), hits, isCut };
}
