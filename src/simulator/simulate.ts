import { setTimeout as sleep } from "node:timers/promises";
import type { Adapter } from "../providers/adapter.ts";
import { damaged, type Signing, signed } from "./damage.ts";
import type { Turn } from "./deck.ts";
import type { Subject } from "./formats/renderer.ts";
import { keepPace } from "./pace.ts";
import type { Simulation } from "./prepare.ts";
import { type Answer, openSender, type Sender } from "./sender.ts";
import type { Life, Step } from "./story.ts";
import { outcomeOf, type Tally } from "./tally.ts";

export type SendOptions = {
  /** Where the server listens, e.g. `http://127.0.0.1:3000`. */
  url: string;
  adapter: Adapter;
  secret: string;
  concurrency: number;
  /** Deliveries a second; `null`: as fast as they are answered. */
  rate: number | null;
};

export type Sent = {
  seconds: number;
  /** Lives of which an event had to be sent again, so that it may have been applied late. */
  disturbed: ReadonlySet<number>;
  /** Damaged deliveries that were not refused, told in a few words. */
  accepted: string[];
};

/** A rightly signed delivery got an answer that makes it pointless to go on. */
export class Unwelcome extends Error {
  override name = "Unwelcome";
}

const TRIES = 10;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Sends everything there is, and counts in `tally` how it was taken. @throws Unwelcome */
export async function simulate(simulation: Simulation, options: SendOptions, tally: Tally): Promise<Sent> {
  const sender = openSender(options.url);
  const pace = keepPace(options.rate);
  const sent = { disturbed: new Set<number>(), accepted: [] as string[] };
  let stopped = false;
  const startedAt = performance.now();

  async function sendWhileThereIs(): Promise<void> {
    for (let turn = simulation.deck.draw(); turn && !stopped; turn = simulation.deck.draw()) {
      await play(turn);
      simulation.deck.played(turn);
    }
  }

  async function play(turn: Turn): Promise<void> {
    const copies = turn.as === "twice at once" ? 2 : 1;
    await Promise.all(
      Array.from({ length: copies }, async () => {
        await pace();
        const { answer, tries } = await untilTaken(sender, simulation, turn, options, tally);
        if (tries > 1) sent.disturbed.add(turn.life);
        note(turn, answer);
      }),
    );
  }

  function note(turn: Turn, answer: Answer): void {
    const outcome = outcomeOf(answer);
    tally.sent += 1;
    if (outcome) tally[outcome] += 1;
    if (turn.as === "damaged") {
      if (outcome !== "refused" && outcome !== "unavailable") sent.accepted.push(turn.damage);
    } else if (outcome === null || outcome === "refused") {
      throw new Unwelcome(`${answer.status} ${"body" in answer ? JSON.stringify(answer.body) : ""}`);
    }
  }

  const workers = Array.from({ length: options.concurrency }, async () => {
    try {
      await sendWhileThereIs();
    } catch (error) {
      stopped = true;
      throw error;
    }
  });
  const ends = await Promise.allSettled(workers);
  sender.close();
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
  return { ...sent, seconds: (performance.now() - startedAt) / 1_000 };
}

/** As a provider does: what was not taken comes again, a little later each time, newly signed. */
async function untilTaken(
  sender: Sender,
  simulation: Simulation,
  turn: Turn,
  options: SendOptions,
  tally: Tally,
): Promise<{ answer: Answer; tries: number }> {
  const path = `/api/webhooks/${simulation.slot}`;
  for (let tries = 1; ; tries += 1) {
    const answer = await sender.post(path, deliveryOf(simulation, turn, options));
    tally.tookMs.push(answer.tookMs);
    if (outcomeOf(answer) !== "unavailable" || tries >= TRIES) return { answer, tries };
    tally.retried += 1;
    await sleep(Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)));
  }
}

function deliveryOf(simulation: Simulation, turn: Turn, { adapter, secret }: SendOptions) {
  const life = simulation.lives[turn.life] as Life;
  const { eventId, eventType, body } = simulation.renderer.render({
    life,
    step: life.steps[turn.at] as Step,
    at: turn.at,
    subject: simulation.subjects[turn.life] as Subject,
    run: simulation.run,
  });
  const rawBody = Buffer.from(JSON.stringify(body));
  const signing: Signing = { adapter, secret, nowSeconds: Date.now() / 1_000, eventId, eventType };
  return turn.as === "damaged" ? damaged(turn.damage, rawBody, signing) : signed(rawBody, signing);
}
