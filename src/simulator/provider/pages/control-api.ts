import { type Context, Hono } from "hono";
import { isSlot } from "../../../domain/slot.ts";
import { type ClockStep, type Command, run } from "../control.ts";
import type { Clock } from "../move-clock.ts";
import type { Shop } from "../shop.ts";
import type { FaultKind } from "../state.ts";
import { summaryOf } from "./summary.ts";

/**
 * What the control page's buttons do, for programs as well: a JSON body is answered with JSON, a form with the page.
 * `POST /clock {by}`, `POST /:slot/faults {kind, next, share}`, `POST /:slot/secret`, `POST /:slot/enable`,
 * `POST /:slot/redeliver {number?}`, `GET /state`.
 */
export function controlApi(shops: readonly Shop[], clock: Clock): Hono {
  const app = new Hono();
  app.get("/state", (c) => c.json(summaryOf(shops, clock)));
  app.post("/clock", async (c) => {
    const { by } = await fieldsOf(c);
    const step = (typeof by === "string" && /^\d+$/.test(by) ? Number(by) : by) as ClockStep;
    return answer(c, { do: "move clock", by: step }, "clock");
  });
  app.post("/:slot/:action", async (c) => {
    const shop = shops.find(({ slot }) => slot === c.req.param("slot"));
    if (!shop || !isSlot(shop.slot)) return c.json({ error: "There is no such slot." }, 404);
    const command = commandOf(shop, c.req.param("action"), await fieldsOf(c));
    if (command === null) return c.json({ error: "There is no such action." }, 404);
    return answer(c, command, shop.slot);
  });

  function answer(c: Context, command: Command, place: string): Response {
    const problem = run(command, clock, shops);
    if (!isJson(c)) {
      const query = problem === null ? "" : `?problem=${encodeURIComponent(problem)}`;
      return c.redirect(`/${query}#${place}`, 303);
    }
    return problem === null ? c.json(summaryOf(shops, clock)) : c.json({ error: problem }, 422);
  }
  return app;
}

function commandOf(shop: Shop, action: string, fields: Record<string, unknown>): Command | null {
  switch (action) {
    case "faults": {
      const { kind, next = 0, share = 0 } = fields;
      return { do: "set fault", shop, kind: kind as FaultKind, next: Number(next), share: Number(share) };
    }
    case "secret":
      return { do: "rotate secret", shop };
    case "enable":
      return { do: "enable endpoint", shop };
    case "redeliver":
      return fields.number === undefined
        ? { do: "redeliver all", shop }
        : { do: "redeliver", shop, number: Number(fields.number) };
    default:
      return null;
  }
}

async function fieldsOf(c: Context): Promise<Record<string, unknown>> {
  const text = await c.req.text();
  if (!isJson(c)) return Object.fromEntries(new URLSearchParams(text));
  try {
    const value: unknown = JSON.parse(text || "{}");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function isJson(c: Context): boolean {
  return /^application\/json\b/i.test(c.req.header("content-type") ?? "");
}
