import type { UIMessageChunk } from "ai";
import { expect, it } from "vitest";
import { sharedAnswers } from "../../src/chat/shared-answers.ts";
import { eventually } from "../support/eventually.ts";

/** What a server would be sent; those that `isFailing` names fail. */
function recorded(isFailing: (command: string[]) => boolean = () => false) {
  const pointers = new Map<string, string>();
  const commands: string[][] = [];
  const send = async (key: string, command: string[]) => {
    commands.push(command);
    if (isFailing(command)) throw new Error("no Redis");
    if (command[0] === "SET") pointers.set(key, command[2] as string);
    if (command[0] === "DEL") pointers.delete(key);
    return command[0] === "GET" ? (pointers.get(key) ?? null) : null;
  };
  const named = (name: string) => commands.filter(([first]) => first === name);
  return { answers: sharedAnswers(send), named, pointers };
}

const words = (delta: string): UIMessageChunk => ({ type: "text-delta", id: "1", delta });

it("shares no answer with a gap: after a command that failed, no other follows", async () => {
  const { answers, named } = recorded(
    ([name, , , , chunk]) => name === "XADD" && chunk?.includes("two") === true,
  );
  const answer = answers.begin("chat");
  for (const delta of ["one", "two", "three"]) answer.append(words(delta));
  answer.end();
  await eventually(async () => named("XADD").length, 2);
  await new Promise(setImmediate);
  expect(named("XADD").map(([, , , , chunk]) => JSON.parse(chunk ?? "").delta)).toEqual(["one", "two"]);
});

it("leaves the newest answer of a conversation resumable once an earlier one was delivered", async () => {
  const { answers, named, pointers } = recorded();
  const earlier = answers.begin("chat");
  await eventually(async () => pointers.size, 1);
  const later = answers.begin("chat");
  await eventually(async () => named("SET").length, 2);
  earlier.delivered();
  await eventually(async () => named("GET").length, 1);
  await new Promise(setImmediate);
  expect([...pointers.values()]).toEqual([named("SET")[1]?.[2]]);
  later.delivered();
  await eventually(async () => pointers.size, 0);
});

it("knows by the later answer alone that it is followed, although it is not stored yet itself", async () => {
  const { answers, named } = recorded();
  const earlier = answers.begin("chat");
  await eventually(async () => named("SET").length, 1);
  const later = answers.begin("chat");
  expect(await later.isFollowed()).toBe(false);
  expect(await earlier.isFollowed()).toBe(true);
});

it("is not followed by an earlier answer where it could not be stored", async () => {
  let isFailing = false;
  const { answers, named } = recorded(([name]) => isFailing && name === "SET");
  answers.begin("chat");
  await eventually(async () => named("SET").length, 1);
  isFailing = true;
  expect(await answers.begin("chat").isFollowed()).toBe(false);
});
