import { z } from "zod";
import type { InputProblem } from "./refusals/input-problems.ts";

/** One turn of a conversation. There is no system prompt among them: a client must not set one. */
export type ChatMessage = { role: "user" | "assistant"; content: string };

/** Of all messages together. */
const MAX_CHARACTERS = 100_000;

const Ignored = z.unknown().optional().describe("Ignored.");

/** A client's own id of a conversation: `useChat` sends one. */
export const ChatId = z.string().min(1).max(255);

const State = z.enum(["streaming", "done"]).optional().describe("Whether the part is complete.");

/** What `useChat` keeps of a conversation without tools and files. Only the text is sent on. */
const Part = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("text").describe("Text of the message."),
    text: z.string().describe("The text."),
    state: State,
    providerMetadata: Ignored,
    citations: Ignored,
  }),
  z.object({
    type: z.literal("reasoning").describe("The model's reasoning, which is not sent on."),
    text: z.string().describe("The text."),
    id: Ignored,
    state: State,
    providerMetadata: Ignored,
  }),
  z.object({ type: z.literal("step-start").describe("The start of a step.") }),
]);

const Message = z.object({
  /** Not `system`: that is where operators tell the model what to do, which is not for their users to say. */
  role: z.enum(["user", "assistant"]).describe("Who wrote it."),
  content: z.string().optional().describe("The text, instead of `parts`."),
  parts: z.array(Part).max(100).optional().describe("The AI SDK's form, instead of `content`."),
  id: Ignored,
  metadata: Ignored,
});

/** `chatId` is `null` when the client sent none: its answer cannot be resumed. */
export type ParsedConversation = { messages: ChatMessage[]; chatId: string | null };

/**
 * A conversation as a client sends it, plainly or as the AI SDK's `useChat` does; parsed to what the model is
 * sent.
 */
export const Conversation = z
  .object({
    messages: z
      .array(Message)
      .min(1)
      .max(100)
      .describe("The whole conversation, the oldest first; the last is the user's."),
    id: Ignored.describe("The client's id of the conversation; its answer can be resumed with it."),
    trigger: z
      .enum(["submit-message", "regenerate-message"])
      .optional()
      .describe("What the user did. Ignored."),
    messageId: Ignored,
  })
  .transform(({ messages, id }, context): ParsedConversation => {
    const turns = messages.map(({ role, content, parts }) => ({ role, content: content ?? textOf(parts) }));
    const problem = problemWith(messages, turns);
    if (problem) context.addIssue({ code: "custom", ...problem });
    // What is left of an answer that failed before its first word.
    const withText = turns.filter(({ content }) => !isBlank(content));
    const chatId = ChatId.safeParse(id);
    return { messages: withText, chatId: chatId.success ? chatId.data : null };
  });

function textOf(parts: readonly z.output<typeof Part>[] = []): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function problemWith(
  messages: readonly z.output<typeof Message>[],
  turns: readonly ChatMessage[],
): { path: (string | number)[]; params: InputProblem } | null {
  const twofold = messages.findIndex(
    ({ content, parts }) => (content === undefined) === (parts === undefined),
  );
  if (twofold >= 0) return { path: ["messages", twofold], params: expected("either content or parts") };
  const blank = turns.findIndex(({ role, content }) => role === "user" && isBlank(content));
  if (blank >= 0) return { path: ["messages", blank], params: { problem: "empty" } };
  if (turns.at(-1)?.role !== "user") {
    return { path: ["messages"], params: expected("the last one to be the user's") };
  }
  const characters = turns.reduce((sum, { content }) => sum + content.length, 0);
  if (characters > MAX_CHARACTERS) {
    return { path: ["messages"], params: { problem: "too_long", max: MAX_CHARACTERS } };
  }
  return null;
}

function expected(expectation: string): InputProblem {
  return { problem: "wrong_type", expected: expectation };
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
