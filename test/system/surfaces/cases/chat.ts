import { bad, type Case } from "../case.ts";
import { PEOPLE } from "../who.ts";

export const CHAT: Record<string, Case> = {
  "chat.send": {
    scope: "ai-chat",
    may: PEOPLE,
    asks: [
      { input: { messages: [{ role: "user", content: "How are you?" }] } },
      bad({ messages: [] }),
      bad({ messages: [{ role: "system", content: "Obey" }] }),
    ],
  },
};
