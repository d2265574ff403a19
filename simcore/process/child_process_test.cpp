#include "simcore/process/child_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

namespace gpusim::core {
namespace {

using Works = std::vector<std::function<std::string()>>;

TEST(ChildProcess, AnswersComeInOrderWhateverTheNumberAtOnce) {
  Works works;
  for (int i = 0; i < 7; ++i) works.emplace_back([i] { return std::string(100000ul * (7 - i), 'a' + i); });
  for (const unsigned parallel : {0u, 1u, 3u, 20u}) {
    const auto answers = run_in_children(works, parallel);
    ASSERT_EQ(answers.size(), 7u);
    for (size_t i = 0; i < 7; ++i) {
      EXPECT_TRUE(answers[i].good);
      EXPECT_EQ(answers[i].text, std::string(100000 * (7 - i), static_cast<char>('a' + i)));
    }
  }
}

TEST(ChildProcess, OneThatFailsLeavesTheOthersAlone) {
  const Works works = {[] { return std::string(); },
                       []() -> std::string { throw std::runtime_error("no room"); },
                       []() -> std::string {
                         raise(SIGKILL);
                         return "";
                       },
                       [] { return std::string("\0\n", 2); }};
  const auto answers = run_in_children(works, 2);
  EXPECT_TRUE(answers[0].good);
  EXPECT_EQ(answers[0].text, "");
  EXPECT_FALSE(answers[1].good);
  EXPECT_EQ(answers[1].text, "no room");
  EXPECT_FALSE(answers[2].good);
  EXPECT_EQ(answers[2].text, "its process ended by signal 9");
  EXPECT_TRUE(answers[3].good);
  EXPECT_EQ(answers[3].text, std::string("\0\n", 2));
}

TEST(ChildProcess, WhatIsStoppedHasNotEnded) {
  bool first = false;
  const Works works = {[] { return std::string("whole"); },
                       []() -> std::string {
                         pause();
                         return "";
                       },
                       [] { return std::string("never begun"); }};
  const auto answers = run_in_children(
      works, 1, [&](size_t, const ChildAnswer&) { first = true; }, [&] { return first; });
  EXPECT_TRUE(answers[0].ended && answers[0].good);
  EXPECT_FALSE(answers[1].ended || answers[1].good);
  EXPECT_FALSE(answers[2].ended);
}

TEST(SignalsGoToChild, WhichDecidesWhatToDo) {
  constexpr std::array kSignals = {SIGUSR1, SIGUSR2};
  std::signal(SIGUSR2, SIG_IGN);
  {
    SignalsGoToChild signals(kSignals);
    ChildProcess child([&](int pipe) {
      std::signal(SIGUSR1, [](int) { _exit(7); });
      signals.end_in_child();
      send_answer(pipe, "ready");
      for (;;) pause();
      return 0;
    });
    raise(SIGUSR1);  // held back until the child is known
    signals.to(child.id());
    raise(SIGUSR2);  // is ignored
    EXPECT_EQ(child.wait().status, 7);
  }
  struct sigaction after {};
  ASSERT_EQ(sigaction(SIGUSR1, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, SIG_DFL);
  std::signal(SIGUSR2, SIG_DFL);
}

TEST(ChildProcess, WhicheverEndsFirstMakesRoomForTheNext) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  // The first waits for a sign of the third, which begins when the second has ended.
  const Works works = {[&] {
                         pollfd sign{ends[0], POLLIN, 0};
                         return std::string(poll(&sign, 1, 20000) == 1 ? "seen" : "alone");
                       },
                       [] { return std::string("short"); },
                       [&] { return std::string(write(ends[1], "x", 1) == 1 ? "sent" : "lost"); }};
  const auto answers = run_in_children(works, 2);
  EXPECT_EQ(answers[0].text, "seen");
  EXPECT_EQ(answers[2].text, "sent");
  close(ends[0]), close(ends[1]);
}

TEST(ChildProcess, TellsHowItEndedAndWhatItSaid) {
  ChildProcess status([](int pipe) { return send_answer(pipe, "so far") ? 7 : 1; });
  const ProcessEnd end = status.wait();
  EXPECT_EQ(status.answer(), "so far");
  EXPECT_EQ(end.status, 7);
  EXPECT_EQ(end.signal, 0);
  EXPECT_FALSE(end.good());
  EXPECT_EQ(ChildProcess([](int) -> int { throw 5; }).wait().status, 1);
  EXPECT_EQ(ChildProcess([](int) { return raise(SIGKILL); }).wait().signal, SIGKILL);
  EXPECT_TRUE(ChildProcess([](int) { return 0; }).wait().good());
}

TEST(ChildProcess, IsEndedIfNobodyWaitsForIt) {
  const ChildProcess endless([](int) { return pause(); });
}

TEST(ChildProcess, RunsAnotherProgram) {
  int in[2], out[2];
  ASSERT_EQ(pipe(in), 0);
  ASSERT_EQ(pipe(out), 0);
  ASSERT_EQ(write(in[1], "text", 4), 4);
  close(in[1]);
  EXPECT_TRUE(run_program({"cat", "-"}, in[0], out[1]).good());
  char said[8] = "";
  EXPECT_EQ(read(out[0], said, sizeof said), 4);
  EXPECT_STREQ(said, "text");
  EXPECT_EQ(run_program({"false"}, in[0], out[1]).status, 1);
  EXPECT_EQ(run_program({"there-is-no-such-program"}, in[0], out[1]).status, kNoSuchProgram);
  for (const int end : {in[0], out[0], out[1]}) close(end);
}

}  // namespace
}  // namespace gpusim::core
