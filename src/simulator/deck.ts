import type { WireFormat } from "../providers/adapter.ts";
import { type DamageKind, damageKinds } from "./damage.ts";
import { type Dice, exactShare } from "./dice.ts";
import type { Life } from "./story.ts";

/** One thing to send: an event of a life, alone or twice at once, an event once more, or a damaged copy of one. */
export type Turn = {
  /** Which of the run's lives, and which of its steps; both from 0. */
  life: number;
  at: number;
} & ({ as: "event" | "twice at once" | "repeat" } | { as: "damaged"; damage: DamageKind });

/** What is still to be sent, and in which order. */
export type Deck = {
  readonly size: number;
  /** The next turn that may begin now; `null` when there is none. */
  draw(): Turn | null;
  /** To be told when a turn is over, so that the one that waits for it may begin. */
  played(turn: Turn): void;
};

export type DealOptions = {
  /** Shares of the events, 0 to 1. */
  duplicates: number;
  corrupt: number;
  format: WireFormat;
};

const LATEST_REPEAT = 3;

/** Every life's turns in their order. */
export function dealTurns(dice: Dice, lives: readonly Life[], options: DealOptions): Turn[][] {
  const events = lives.reduce((sum, life) => sum + life.steps.length, 0);
  const isRepeated = exactShare(dice, options.duplicates, events);
  const isDamaged = exactShare(dice, options.corrupt, events);
  const kinds = damageKinds(options.format);
  return lives.map(({ steps }, life) => {
    const turns: Turn[] = [];
    const repeats: { turn: Turn; after: number }[] = [];
    steps.forEach((_, at) => {
      const repeated = isRepeated();
      const atOnce = repeated && dice.chance(0.5);
      const event: Turn = { life, at, as: atOnce ? "twice at once" : "event" };
      if (isDamaged()) {
        const damaged: Turn = { life, at, as: "damaged", damage: dice.pick(kinds) };
        turns.push(...(dice.chance(0.5) ? [damaged, event] : [event, damaged]));
      } else {
        turns.push(event);
      }
      if (repeated && !atOnce) {
        repeats.push({ turn: { life, at, as: "repeat" }, after: at + dice.between(0, LATEST_REPEAT) });
      }
      turns.push(...repeats.filter(({ after }) => after === at).map(({ turn }) => turn));
    });
    turns.push(...repeats.filter(({ after }) => after >= steps.length).map(({ turn }) => turn));
    return turns;
  });
}

/**
 * Each life in its own order: its next turn only after the one before is over. Many lives go on side by side,
 * `abreast` of them at a time.
 */
export function inOrder(turnsOfLives: readonly (readonly Turn[])[], abreast: number): Deck {
  const played = new Map<number, number>();
  const ready: Turn[] = [];
  let head = 0;
  let begun = 0;
  const begin = () => {
    const first = turnsOfLives[begun]?.[0];
    begun += 1;
    if (first) ready.push(first);
  };
  while (begun < Math.min(abreast, turnsOfLives.length)) begin();
  return {
    size: turnsOfLives.reduce((sum, turns) => sum + turns.length, 0),
    draw: () => {
      const turn = ready[head] ?? null;
      if (turn) head += 1;
      return turn;
    },
    played: ({ life }) => {
      const count = (played.get(life) ?? 0) + 1;
      played.set(life, count);
      const next = turnsOfLives[life]?.[count];
      if (next) ready.push(next);
      else begin();
    },
  };
}

/** All turns of all lives in one random order, nobody waiting for anybody. */
export function allMixed(dice: Dice, turnsOfLives: readonly (readonly Turn[])[]): Deck {
  const turns = dice.shuffled(turnsOfLives.flat());
  let head = 0;
  return {
    size: turns.length,
    draw: () => {
      const turn = turns[head] ?? null;
      head += 1;
      return turn;
    },
    played: () => {},
  };
}
