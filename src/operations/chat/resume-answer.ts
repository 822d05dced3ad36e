import { z } from "zod";
import type { Chat } from "../../chat/chat.ts";
import { ChatId } from "../../domain/conversation.ts";
import { defineOperation } from "../operation.ts";

export const resumeAnswer = defineOperation({
  name: "chat.resume",
  summary: "Resumes the stream of the assistant's current answer, from its start",
  access: "person",
  limit: "api",
  input: z.strictObject({ id: ChatId.describe("The `id` that was sent with the message.") }),
  reasons: ["rate_limited"],
  output: z.custom<Awaited<ReturnType<Chat["resume"]>>>(),
  run: async ({ chat }: { chat: Chat | null }, { userId }, { id }) =>
    (await chat?.resume(userId, id)) ?? null,
});
