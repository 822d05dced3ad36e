import { NotFoundMessage } from "../not-found-message.tsx";

export default NotFoundMessage;
