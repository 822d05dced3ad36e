import { z } from "zod";
import type { Chat, ChatAttempt } from "../../chat/chat.ts";
import { Conversation } from "../../domain/conversation.ts";
import { refuse } from "../../domain/refusals/refusal.ts";
import { defineOperation } from "../operation.ts";

/** The model is called when the answer is opened, so that the opener can also cancel it. */
export type ChatReply = { open(attempt: Omit<ChatAttempt, "userId" | "chatId">): ReturnType<Chat["stream"]> };

export const sendMessage = defineOperation({
  name: "chat.send",
  summary: "Sends a message to the assistant and streams its answer",
  access: "person",
  limit: "ai-chat",
  input: Conversation,
  reasons: ["chat_not_configured", "chat_unavailable"],
  output: z.custom<ChatReply>(),
  run: async ({ chat }: { chat: Chat | null }, { userId }, { messages, chatId }) => {
    if (!chat) refuse({ reason: "chat_not_configured" });
    return { open: (attempt) => chat.stream(messages, { ...attempt, userId, chatId }) };
  },
});
