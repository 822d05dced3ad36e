import { describe, expect, it } from "vitest";
import { type Node, outline } from "../../src/ui/payload-outline.ts";

const MASK = "•••";
const PAYLOAD = {
  id: "evt_1",
  data: {
    object: { plan: { interval: "month" }, email: MASK, items: [{ price: "price_1" }], extra: { a: 1 } },
  },
};

function openBranches(node: Node): string[] {
  if (node.kind === "leaf") return [];
  return [...(node.isOpen ? [node.name ?? ""] : []), ...node.children.flatMap(openBranches)];
}

const outlineFor = (find: string | null, maxNodes = 100) => outline(PAYLOAD, { find, mask: MASK, maxNodes });

describe("outline", () => {
  it("folds deep levels", () => {
    expect(openBranches(outlineFor(null).root)).toEqual(["", "data"]);
  });

  it("unfolds the path to a search match, and nothing else", () => {
    const matches = outlineFor("MONTH");
    expect(matches.hits).toBe(1);
    expect(openBranches(matches.root)).toEqual(["", "data", "object", "plan"]);
  });

  it("finds field names and values", () => {
    expect(outlineFor("price").hits).toBe(1);
    expect(outlineFor("items").hits).toBe(1);
    expect(outlineFor("nowhere").hits).toBe(0);
  });

  it("does not find masked values", () => {
    expect(outlineFor("•").hits).toBe(0);
    expect(outlineFor("email").hits).toBe(1);
  });

  it("reports that a payload is too large to show whole", () => {
    const long = outline(
      Array.from({ length: 1_000 }, (_, at) => at),
      { find: null, mask: MASK, maxNodes: 50 },
    );
    expect(long.isCut).toBe(true);
    expect(long.root.kind === "branch" && long.root.children.length).toBe(49);
    expect(long.root.kind === "branch" && long.root.size).toBe(1_000);
    expect(outlineFor(null).isCut).toBe(false);
  });
});
