import { type Context, Hono } from "hono";
import { type ClockStep, type ControlCommand, run } from "../server/control.ts";
import type { Clock } from "../server/move-clock.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";
import type { FaultKind } from "../server/state.ts";
import { summaryOf } from "./summary.ts";

/**
 * The actions of the control page, also for programs: JSON requests get JSON, forms get the page. `POST
 * /clock {by}`, `POST /:slot/faults {kind, next, share}`, `POST /:slot/secret`, `POST /:slot/enable`, `POST
 * /:slot/redeliver {number?}`, `POST /:slot/refund {payment, amount?}`, `POST /:slot/dispute {payment}`,
 * `POST /:slot/win-dispute {payment}`, `POST /:slot/lose-dispute {payment}`, `GET /state`.
 */
export function controlApi(slots: readonly ProviderSlot[], clock: Clock): Hono {
  const app = new Hono();
  app.get("/state", (c) => c.json(summaryOf(slots, clock)));
  app.post("/clock", async (c) => {
    const { by } = await fieldsOf(c);
    const step = (typeof by === "string" && /^\d+$/.test(by) ? Number(by) : by) as ClockStep;
    return respond(c, { do: "move clock", by: step }, "clock");
  });
  app.post("/:slot/:action", async (c) => {
    const slot = slots.find(({ name }) => name === c.req.param("slot"));
    if (!slot) return c.json({ error: "There is no such slot." }, 404);
    const command = commandOf(slot, c.req.param("action"), await fieldsOf(c));
    if (command === null) return c.json({ error: "There is no such action." }, 404);
    return respond(c, command, slot.name);
  });

  function respond(c: Context, command: ControlCommand, anchor: string): Response {
    const problem = run(command, clock, slots);
    if (!isJson(c)) {
      const query = problem === null ? "" : `?problem=${encodeURIComponent(problem)}`;
      return c.redirect(`/${query}#${anchor}`, 303);
    }
    return problem === null ? c.json(summaryOf(slots, clock)) : c.json({ error: problem }, 422);
  }
  return app;
}

function commandOf(
  slot: ProviderSlot,
  action: string,
  fields: Record<string, unknown>,
): ControlCommand | null {
  switch (action) {
    case "faults": {
      const { kind, next = 0, share = 0 } = fields;
      return { do: "set fault", slot, kind: kind as FaultKind, next: Number(next), share: Number(share) };
    }
    case "secret":
      return { do: "rotate secret", slot };
    case "enable":
      return { do: "enable endpoint", slot };
    case "redeliver":
      return fields.number === undefined
        ? { do: "redeliver all", slot }
        : { do: "redeliver", slot, number: Number(fields.number) };
    case "refund": {
      const { payment, amount = "" } = fields;
      return { do: "refund", slot, payment: String(payment), amount: amount === "" ? null : Number(amount) };
    }
    case "dispute":
      return { do: "dispute", slot, payment: String(fields.payment) };
    case "win-dispute":
      return { do: "win dispute", slot, payment: String(fields.payment) };
    case "lose-dispute":
      return { do: "lose dispute", slot, payment: String(fields.payment) };
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
